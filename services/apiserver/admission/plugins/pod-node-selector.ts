import { getOwn } from '../../../machinery/meta/own.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { mapOf, readMembers, refuse, text, type MemberReader } from '../configuration-members.js';
import type { PluginDocument } from '../configuration.js';
import { derived, type AdmissionObjects } from '../objects.js';
import { presentNamespace } from '../namespaces.js';
import { specOf } from '../pods/pod.js';
import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

type Labels = Readonly<Record<string, string>>;

export interface PodNodeSelectorDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present'>;
  readonly configuration: ReadonlyMap<string, PluginDocument>;
}

const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** The selectors of pods of a namespace go together with its own, or with that of the cluster (spec 2, 2.7 and 4.4). */
export function podNodeSelector({ vocabulary, objects, configuration }: PodNodeSelectorDeps): AdmissionPlugin {
  const { ofCluster, allowed } = configured(configuration.get('PodNodeSelector'));
  const { namespaceNodeSelector } = vocabulary.annotations;
  const ofNamespace = derived(({ metadata }) => {
    const said = metadata.annotations?.[namespaceNodeSelector];
    return { selector: said, labels: said === undefined ? ofCluster : labelsOf(said) };
  });
  return {
    operations: ['CREATE'],
    resources: ['pods'],
    mutate: async (request) => {
      const { object, subresource } = request;
      if (object === undefined || subresource !== '') return;
      const { labels, selector: said = '' } = ofNamespace(await presentNamespace(objects, request));
      if (labels === undefined) throw refused(request, `invalid selector: [${said}]`);
      const spec = specOf(object);
      const own = spec.nodeSelector ?? {};
      if (Object.entries(labels).some(([key, value]) => (getOwn(own, key) ?? value) !== value)) {
        throw refused(request, 'pod node label selector conflicts with its namespace node label selector');
      }
      if (Object.keys(labels).length > 0) spec.nodeSelector = { ...labels, ...own };
    },
    validate: (request) => {
      const { object, subresource, namespace } = request;
      const those = allowed.get(namespace);
      if (object === undefined || subresource !== '' || those === undefined) return;
      const own = Object.entries(specOf(object).nodeSelector ?? {});
      if (own.every(([key, value]) => getOwn(those, key) === value)) return;
      throw refused(request, 'pod node label selector labels conflict with its namespace whitelist');
    },
  };
}

interface Configured {
  readonly ofCluster: Labels;
  /** What pods of a namespace may select; those that are not here may select anything. */
  readonly allowed: ReadonlyMap<string, Labels>;
}

const selector: MemberReader<Labels> = (member) =>
  labelsOf(text(member)) ?? refuse(member, 'must be labels, as in a=b,c=d');

/** @throws {Error} In one line, for a file of another shape */
function configured(document: PluginDocument | undefined): Configured {
  if (document === undefined) return { ofCluster: {}, allowed: new Map() };
  const { podNodeSelectorPluginConfig: all } = readMembers(document, { podNodeSelectorPluginConfig: mapOf(selector) });
  const ofNamespaces = [...all].filter(([name, labels]) => name !== CLUSTER_DEFAULT && Object.keys(labels).length > 0);
  return { ofCluster: all.get(CLUSTER_DEFAULT) ?? {}, allowed: new Map(ofNamespaces) };
}

/** Of `a=b,c=d`; undefined for another text. */
function labelsOf(selectors: string): Labels | undefined {
  const labels: [string, string][] = [];
  for (const pair of selectors.split(',')) {
    if (pair.trim() === '' && labels.length === 0 && !selectors.includes(',')) break;
    const [key = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0) return undefined;
    labels.push([key.trim(), value.trim()]);
  }
  return Object.fromEntries(labels);
}
