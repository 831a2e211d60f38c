import { dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkAnnotations, checkLabels } from '../checks/labels.js';
import type { List } from '../checks/members.js';
import { each, requireText } from '../checks/members.js';
import { unreservedPath } from '../checks/text.js';
import type { ClaimSpec } from './claim-spec.js';
import { checkClaimSpec } from './claim-spec.js';
import { downwardApi, projected } from './projections.js';
import type { Source, SourceCheck } from './sources.js';
import { files, podSources, sharedSources } from './sources.js';

/** A volume of a pod: its name, and one member for its source. */
export interface Volume extends Readonly<Record<string, unknown>> {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
  readonly projected?: { readonly sources?: List<{ readonly serviceAccountToken?: object }> };
}

interface ClaimTemplate {
  readonly metadata?: { readonly labels?: StringMap; readonly annotations?: StringMap };
  readonly spec?: ClaimSpec;
}

const IN_TEMPLATES: ReadonlySet<string> = new Set(['labels', 'annotations', 'creationTimestamp']);

const ephemeral: SourceCheck = (at, source) => {
  const template = source['volumeClaimTemplate'] as ClaimTemplate | undefined;
  if (template === undefined) {
    at.required('volumeClaimTemplate');
    return;
  }
  const templateAt = at.child('volumeClaimTemplate');
  const { metadata = {}, spec = {} } = template;
  const metadataAt = templateAt.child('metadata');
  checkAnnotations(metadataAt, 'annotations', metadata.annotations);
  checkLabels(metadataAt, 'labels', metadata.labels);
  for (const member of Object.keys(metadata)) {
    if (!IN_TEMPLATES.has(member)) metadataAt.forbidden(member, 'cannot be set');
  }
  checkClaimSpec(templateAt.child('spec'), spec);
};

/** Where messages know a source by another name. */
const SHOWN_AS: ReadonlyMap<string, string> = new Map(Object.entries<string>({ gcePersistentDisk: 'persistentDisk' }));

/** Exactly one source, and what it must have. Sources that are not known here are taken as they are. */
export function checkSource(
  at: At,
  owner: object,
  checks: ReadonlyMap<string, SourceCheck>,
  members: readonly string[],
): void {
  const [first, ...rest] = members;
  if (first === undefined) {
    at.required('', 'must specify a volume type');
    return;
  }
  const source = (owner as Readonly<Record<string, Source>>)[first];
  if (source !== undefined) checks.get(first)?.(at.child(SHOWN_AS.get(first) ?? first), source);
  for (const other of rest) at.forbidden(other, 'may not specify more than 1 volume type');
}

const allPodSources = (vocabulary: Vocabulary): ReadonlyMap<string, SourceCheck> =>
  new Map<string, SourceCheck>([
    ...sharedSources(vocabulary),
    ...podSources,
    ['secret', files('secretName', unreservedPath)],
    ['configMap', files('name', unreservedPath)],
    ['downwardAPI', downwardApi],
    ['projected', projected],
    ['ephemeral', ephemeral],
  ]);

/** @returns Checks a pod's volumes and gives those that are right, by name. `podName` is '' in templates. */
export function volumeChecks(
  vocabulary: Vocabulary,
): (at: At, volumes: readonly Volume[] | undefined, podName: string) => ReadonlyMap<string, Volume> {
  const sources = allPodSources(vocabulary);
  return (at, volumes, podName) => {
    const right = new Map<string, Volume>();
    const created = new Set<string>();
    if (podName !== '') {
      for (const { name = '', ephemeral: own } of volumes ?? []) {
        if (own !== undefined) created.add(`${podName}-${name}`);
      }
    }
    each(at, 'volumes', volumes, (volume, volumeAt) => {
      const before = at.problems.length;
      const { name = '', persistentVolumeClaim: claim } = volume;
      const members = Object.keys(volume).filter((member) => member !== 'name' && volume[member] !== undefined);
      checkSource(volumeAt, volume, sources, members);
      if (volume.ephemeral !== undefined && podName !== '') checkClaimName(volumeAt, podName, name);
      requireText(volumeAt, 'name', name, dns1123Label);
      if (right.has(name)) volumeAt.duplicate('name', name);
      if (at.problems.length === before) right.set(name, volume);
      if (claim?.claimName !== undefined && created.has(claim.claimName)) {
        const why = 'must not reference a PVC that gets created for an ephemeral volume';
        volumeAt.invalid('persistentVolumeClaim.claimName', claim.claimName, why);
      }
    });
    return right;
  };
}

/** The claim that is made for a volume is named after the pod and the volume. */
function checkClaimName(at: At, podName: string, name: string): void {
  const claim = `${podName}-${name}`;
  if (name === '') return;
  for (const problem of dns1123Subdomain(claim)) at.invalid('name', name, `PVC name "${claim}": ${problem}`);
}
