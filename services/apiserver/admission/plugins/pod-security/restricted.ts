import type { PodSpec } from '../../pods/pod.js';
import { addedBeyond, oddProfiles, profileOf, seccompProfile } from './baseline.js';
import { byContainers, containersNamed, namesWhere, plural, quoted, setters, sorted, type Control } from './words.js';

/* Controls that the standard `restricted` has besides those of `baseline`: hardening that most programs do not notice. */

export const allowPrivilegeEscalation = byContainers(
  'allowPrivilegeEscalation != false',
  ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
  'must set securityContext.allowPrivilegeEscalation=false',
);

const ADDABLE: ReadonlySet<string> = new Set(['NET_BIND_SERVICE']);

export const restrictedCapabilities: Control = ({ spec }) => {
  const keeping = namesWhere(
    spec,
    ({ securityContext }) => !(securityContext?.capabilities?.drop ?? []).includes('ALL'),
  );
  const added = addedBeyond(spec, ADDABLE);
  const parts = [
    ...(keeping.length === 0 ? [] : [`${containersNamed(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(added === '' ? [] : [added]),
  ];
  return parts.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: parts.join('; ') };
};

const VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

export const restrictedVolumes: Control = ({ spec }) => {
  const odd = (spec.volumes ?? []).map((volume) => [volume.name ?? '', oddSourceOf(volume)] as const);
  const found = odd.flatMap(([name, source]) => (source === undefined ? [] : [{ name, source }]));
  if (found.length === 0) return undefined;
  const types = found.map(({ source }) => source);
  const what = `${plural('volume', 'volumes', found.length)} ${quoted(found.map(({ name }) => name))}`;
  const use = `${plural('uses', 'use', found.length)} restricted volume ${plural('type', 'types', new Set(types).size)}`;
  return { reason: 'restricted volume types', detail: `${what} ${use} ${sorted(types)}` };
};

/** A volume that names no source is an empty directory. */
const oddSourceOf = (volume: NonNullable<PodSpec['volumes']>[number]): string | undefined =>
  Object.entries(volume as Readonly<Record<string, unknown>>).find(
    ([member, source]) => member !== 'name' && source != null && !VOLUMES.has(member),
  )?.[0];

export const runAsNonRoot: Control = ({ spec }) => {
  const reason = 'runAsNonRoot != true';
  const ofPod = spec.securityContext?.runAsNonRoot;
  const said = (value: boolean | undefined): string[] =>
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === value);
  const who = setters(ofPod === false, said(false));
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  const silent = ofPod === true ? [] : said(undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: Control = ({ spec }) => {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0);
  const who = setters(spec.securityContext?.runAsUser === 0, names);
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};

export const restrictedSeccomp: Control = (pod, words) => {
  const odd = seccompProfile(pod, words);
  if (odd !== undefined) return odd;
  const { spec } = pod;
  const ofPod = profileOf(spec);
  if (ofPod !== undefined && oddProfiles([ofPod]).length === 0) return undefined;
  const silent = namesWhere(spec, (container) => profileOf(container) === undefined);
  if (silent.length === 0) return undefined;
  const wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: 'seccompProfile', detail: `pod or ${containersNamed(silent)} ${wanted}` };
};
