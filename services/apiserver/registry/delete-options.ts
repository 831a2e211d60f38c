import type { JsonObject } from '../../machinery/meta/object.js';
import { field, invalid, type FieldError } from '../../machinery/meta/status.js';

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';
const POLICIES: readonly PropagationPolicy[] = ['Orphan', 'Background', 'Foreground'];

/** How to delete. From the body, or from query parameters of the same names. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly preconditions: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
  readonly orphanDependents: boolean | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  readonly dryRun: boolean;
  /** As the client gave them. */
  readonly given: JsonObject;
}

export const IMMEDIATELY: DeleteOptions = {
  gracePeriodSeconds: undefined,
  preconditions: { uid: undefined, resourceVersion: undefined },
  orphanDependents: undefined,
  propagationPolicy: undefined,
  dryRun: false,
  given: { kind: 'DeleteOptions' },
};

/**
 * @param body A decoded DeleteOptions, its members' types checked.
 * @throws {StatusError} Invalid
 */
export function deleteOptions(body: JsonObject, dryRunByQuery: boolean): DeleteOptions {
  const errors: FieldError[] = [];
  const policy = body['propagationPolicy'] as string | undefined; // types were checked by decoding
  const orphan = body['orphanDependents'] as boolean | undefined;
  if (policy !== undefined && !POLICIES.includes(policy as PropagationPolicy)) {
    errors.push(field.notSupported('propagationPolicy', policy, POLICIES));
  }
  if (policy !== undefined && orphan !== undefined) {
    errors.push(
      field.invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  const dryRun = (body['dryRun'] ?? []) as readonly string[];
  if (dryRun.some((value) => value !== 'All')) errors.push(field.notSupported('dryRun', dryRun, ['All']));
  const grace = body['gracePeriodSeconds'] as number | undefined;
  if (errors.length > 0) throw invalid({ group: 'meta', kind: 'DeleteOptions' }, '', errors);
  const preconditions = (body['preconditions'] ?? {}) as { uid?: string; resourceVersion?: string };
  return {
    gracePeriodSeconds: grace === undefined ? undefined : grace < 0 ? 1 : grace,
    preconditions: { uid: preconditions.uid, resourceVersion: preconditions.resourceVersion },
    orphanDependents: orphan,
    propagationPolicy: policy as PropagationPolicy | undefined,
    dryRun: dryRunByQuery || dryRun.length > 0,
    given: { ...body, kind: 'DeleteOptions' },
  };
}
