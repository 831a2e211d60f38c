import type { Log } from '../../../machinery/log/log.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type {
  ValidatingAdmissionPolicySpec,
  ValidatingAdmissionPolicyStatus,
} from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { runOnChanges } from '../../cache/changes.js';
import { isReadable, type CachedObject } from '../../cache/cached-object.js';
import { turns } from '../../http/turns.js';
import type { LiveCatalog } from '../../registry/live-catalog.js';
import { declaredResource, type ResourceTable, type StoredResource } from '../../registry/resources.js';
import type { WriteDecision, Writer } from '../../registry/writer.js';
import { typeWarnings } from './type-checking.js';

export interface LookAfterPoliciesDeps {
  readonly resources: ResourceTable;
  readonly writer: Writer;
  readonly vocabulary: Vocabulary;
  readonly live: Pick<LiveCatalog, 'current'>;
}

type Policy = ApiObject & { readonly spec?: ValidatingAdmissionPolicySpec; status?: ValidatingAdmissionPolicyStatus };

const NOTHING: WriteDecision = { do: 'nothing' };

/**
 * Says in the status of each validating policy what does not fit the types that it is about, from the start of the server
 * until `signal` fires. Every server does; what one has written, the others find in place. Never throws. The caches have to
 * be loaded.
 */
export async function lookAfterPolicies(
  d: LookAfterPoliciesDeps,
  log: Pick<Log, 'warn'>,
  signal: AbortSignal,
): Promise<void> {
  const stored = declaredResource(
    d.resources,
    d.vocabulary.groups.admissionregistration,
    'validatingadmissionpolicies',
  );
  const seen = new WeakSet<CachedObject>();
  const pass = async (): Promise<number> => {
    const { from, to } = stored.cache.range('');
    for (const object of stored.cache.current.between(from, to)) {
      if (signal.aborted) return 0;
      if (seen.has(object) || !isReadable(object)) continue;
      await turns.alone();
      await look(d, stored, object);
      seen.add(object);
    }
    return 0;
  };
  const onFailure = (err: unknown): void => log.warn('The types of policies could not be checked yet', { err });
  await runOnChanges({ caches: [stored.cache], pass, onFailure }, signal);
}

async function look(d: LookAfterPoliciesDeps, stored: StoredResource, object: CachedObject): Promise<void> {
  if (checked(d, object) === undefined) return;
  await d.writer.write({ stored, namespace: '', name: object.name }, (current) => {
    const next = current && checked(d, current);
    return next === undefined ? NOTHING : { do: 'put', object: next };
  });
}

/** The policy with what is to be said of it; undefined where that is said. */
function checked({ live }: LookAfterPoliciesDeps, object: CachedObject): ApiObject | undefined {
  const policy = object.parse() as Policy; // we encoded it
  const { generation = 0 } = policy.metadata;
  const { status = {}, spec = {} } = policy;
  if (generation <= (status.observedGeneration ?? 0)) return undefined;
  const warnings = typeWarnings(spec, live.current);
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: [...warnings] };
  return { ...policy, status: { ...status, observedGeneration: generation, typeChecking } };
}
