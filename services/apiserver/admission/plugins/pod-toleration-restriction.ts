import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Toleration } from '../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { qualityOfService } from '../../../machinery/quota/quality-of-service.js';
import { anything, list, object, readVersioned, refuse, text, type MemberReader } from '../configuration-members.js';
import type { PluginDocument } from '../configuration.js';
import { presentNamespace } from '../namespaces.js';
import { derived, type AdmissionObjects } from '../objects.js';
import { specOf } from '../pods/pod.js';
import { covers, mergeTolerations } from '../pods/tolerations.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { refused } from '../refusal.js';

export interface PodTolerationRestrictionDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present'>;
  readonly configuration: ReadonlyMap<string, PluginDocument>;
}

type Tolerations = readonly Toleration[];

interface Rules {
  readonly defaults: Tolerations;
  /** Empty: anything may be tolerated. */
  readonly allowed: Tolerations;
}

const PLUGIN = 'PodTolerationRestriction';
const CONFLICT =
  'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';

/** New pods get the tolerations of their namespace, and no pod has others than it allows (spec 2, 2.7 and 4.4). */
export function podTolerationRestriction(d: PodTolerationRestrictionDeps): AdmissionPlugin {
  const { objects, vocabulary } = d;
  const { defaultTolerations, tolerationsWhitelist } = vocabulary.annotations;
  const ofCluster = configured(d.configuration.get(PLUGIN), vocabulary.groups.podTolerationRestriction);
  const rulesOf = derived((namespace): Rules | Error => {
    try {
      return {
        defaults: listed(namespace, defaultTolerations) ?? ofCluster.defaults,
        allowed: listed(namespace, tolerationsWhitelist) ?? ofCluster.allowed,
      };
    } catch (err) {
      return err as Error; // ours
    }
  });
  const rules = async (request: AdmissionRequest): Promise<Rules> => {
    const found = rulesOf(await presentNamespace(objects, request));
    if (found instanceof Error) throw refused(request, found.message);
    return found;
  };
  const pressure = { key: vocabulary.taints.memoryPressure, operator: 'Exists', effect: 'NoSchedule' };
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: async (request) => {
      const { object, subresource, operation } = request;
      if (object === undefined || subresource !== '') return;
      const spec = specOf(object);
      const own = spec.tolerations ?? [];
      const { defaults } = operation === 'CREATE' ? await rules(request) : { defaults: [] };
      const merged = defaults.length === 0 ? own : mergeTolerations(own, defaults);
      const all = qualityOfService(object) === 'BestEffort' ? merged : mergeTolerations(merged, [pressure]);
      if (all.length > 0) spec.tolerations = structuredClone(all);
    },
    validate: async (request) => {
      const { object, subresource } = request;
      if (object === undefined || subresource !== '') return;
      const { allowed } = await rules(request);
      const own = specOf(object).tolerations ?? [];
      if (allowed.length === 0 || own.every((one) => allowed.some((other) => covers(other, one)))) return;
      throw refused(request, CONFLICT);
    },
  };
}

/** What an annotation lists; undefined where there is none. @throws {Error} */
function listed({ metadata }: ApiObject, annotation: string): Tolerations | undefined {
  const said = metadata.annotations?.[annotation];
  if (said === undefined) return undefined;
  const found = parsed(said === '' ? '[]' : said);
  if (isTolerations(found)) return found;
  throw new Error(`namespace annotation ${annotation} is no list of tolerations`);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) ?? [];
  } catch {
    return undefined;
  }
}

const TEXTS = ['key', 'operator', 'value', 'effect'];

const isTolerations = (value: unknown): value is Tolerations =>
  Array.isArray(value) &&
  value.every(
    (one) =>
      isJsonObject(one) &&
      TEXTS.every((member) => ['string', 'undefined'].includes(typeof getOwn(one, member))) &&
      ['number', 'undefined'].includes(typeof getOwn(one, 'tolerationSeconds')),
  );

const toleration: MemberReader<Toleration> = (member) => {
  const read = object({ key: text, operator: text, value: text, effect: text, tolerationSeconds: anything })(member);
  const given = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined && value !== ''));
  return isTolerations([given]) ? given : refuse(member, 'is no toleration');
};

/** @throws {Error} In one line, for a document of another shape */
function configured(document: PluginDocument | undefined, group: string): Rules {
  if (document === undefined) return { defaults: [], allowed: [] };
  const types = { kind: 'Configuration', apiVersions: [`${group}/v1alpha1`] };
  const { default: defaults, whitelist: allowed } = readVersioned(document, types, {
    default: list(toleration),
    whitelist: list(toleration),
  });
  return { defaults, allowed };
}
