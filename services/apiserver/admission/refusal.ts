import { forbidden, type StatusError } from '../../machinery/meta/status.js';
import type { AdmissionRequest } from './plugin.js';

/** Forbidden, about the object of a request: by its name, or by the beginning of the one that it will get. */
export function refused(
  { resource, name, object }: Pick<AdmissionRequest, 'resource' | 'name' | 'object'>,
  why: string,
): StatusError {
  return forbidden(resource, name || (object?.metadata.generateName ?? '') || 'Unknown', why);
}

/** Several reasons in one sentence, each once, as users know them. */
export function joined(reasons: readonly string[]): string {
  const each = [...new Set(reasons)];
  return each.length === 1 ? (each[0] ?? '') : `[${each.join(', ')}]`;
}
