import type { ApiObject, ObjectMeta } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { FIRST_ROUND, requestFor, type TestedRequest } from './request.js';

export const PODS = { group: '', version: 'v1', resource: 'pods', kind: 'Pod' };

/** A pod `p` in namespace `ns` with one container, unless `spec` says otherwise. */
export const pod = (spec: object = {}, metadata: ObjectMeta = {}): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

/** What a plugin makes of a request: `why` is '' where it lets it through. */
export interface Outcome {
  readonly why: string;
  readonly error: StatusError | undefined;
  readonly request: TestedRequest;
  /** The object's spec after both phases. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Both phases of one plugin. A chain would not ask it about other operations or resources: neither does this. */
export async function ask(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  said: Partial<AdmissionRequest> = {},
  resource = PODS,
): Promise<Outcome> {
  const request = requestFor(resource, object, said);
  const outcome = (error: StatusError | undefined): Outcome => ({
    why: error?.message ?? '',
    error,
    request,
    spec: (request.object?.['spec'] ?? {}) as Outcome['spec'],
  });
  const { operation } = request;
  const name = resource.group === '' ? resource.resource : `${resource.resource}.${resource.group}`;
  if (!plugin.operations.includes(operation) || plugin.resources?.includes(name) === false) return outcome(undefined);
  try {
    await plugin.mutate?.(request, FIRST_ROUND);
    await plugin.validate?.(request);
    return outcome(undefined);
  } catch (err) {
    if (err instanceof StatusError) return outcome(err);
    throw err;
  }
}
