import { notFound } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { AdmissionObjects } from './objects.js';
import type { AdmissionRequest } from './plugin.js';

export const NAMESPACES = { group: '', resource: 'namespaces' };

/** The namespace that a request is about. @throws {StatusError} NotFound */
export const presentNamespace = async (
  objects: Pick<AdmissionObjects, 'present'>,
  request: AdmissionRequest,
): Promise<CachedObject> => withNamespace(objects, request, (found) => found);

/** The same, without waiting where the cache has it. */
export function withNamespace<T>(
  objects: Pick<AdmissionObjects, 'present'>,
  request: AdmissionRequest,
  use: (found: CachedObject) => T,
): Promise<T> | T {
  const { namespace } = request;
  const checked = (found: CachedObject | undefined): T => {
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    return use(found);
  };
  const found = objects.present(NAMESPACES, '', namespace, request);
  return found instanceof Promise ? found.then(checked) : checked(found);
}
