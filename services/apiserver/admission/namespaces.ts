import { notFound } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { AdmissionObjects } from './objects.js';
import type { AdmissionRequest } from './plugin.js';

export const NAMESPACES = { group: '', resource: 'namespaces' };

/** The namespace that a request is about. @throws {StatusError} NotFound */
export async function presentNamespace(
  objects: Pick<AdmissionObjects, 'present'>,
  request: AdmissionRequest,
): Promise<CachedObject> {
  const { namespace } = request;
  const found = await objects.present(NAMESPACES, '', namespace, request);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  return found;
}
