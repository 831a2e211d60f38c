import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { AdmissionRequest, MutatingPhase } from '../plugin.js';

/** A request for one plugin, with what it told the client and the audit. */
export interface TestedRequest extends AdmissionRequest {
  readonly warnings: readonly string[];
  readonly annotations: ReadonlyMap<string, string>;
}

/**
 * A creation of `object` by a user without rights, unless `said` says otherwise.
 *
 * @param resource Its declaration; of a catalog, or as much as the plugin reads.
 */
export function requestFor(
  resource: Pick<ResourceDeclaration, 'group' | 'version' | 'resource' | 'kind'>,
  object: ApiObject | undefined,
  said: Partial<AdmissionRequest> = {},
): TestedRequest {
  const warnings: string[] = [];
  const annotations = new Map<string, string>();
  const { group, version, kind } = resource;
  const { name = '', namespace = '' } = (object ?? said.oldObject)?.metadata ?? {};
  return {
    operation: 'CREATE',
    resource: resource as ResourceDeclaration,
    kind: { group, version, kind },
    subresource: '',
    namespace,
    name,
    object,
    oldObject: undefined,
    options: undefined,
    user: { name: 'tester', uid: '', groups: [], extra: {} },
    dryRun: false,
    signal: new AbortController().signal,
    leaveTurn: () => undefined,
    warn: (text) => void warnings.push(text),
    annotate: (key, value) => void annotations.set(key, value),
    ...said,
    warnings,
    annotations,
  };
}

/** The first round of the mutating phase, which nobody repeats. */
export const FIRST_ROUND: MutatingPhase = { isReinvocation: false, reinvoke: () => undefined };
