import { isApiError } from '../client/rest/client.js';
import type { Namespace } from '../machinery/types/generated/core.v1.js';

/** Whether objects can be made in a namespace. */
export const isActive = (namespace: Namespace | undefined): boolean =>
  namespace !== undefined &&
  namespace.metadata?.deletionTimestamp === undefined &&
  namespace.status?.phase !== 'Terminating';

/** Whether a write was refused because its namespace ends or has ended: nothing is left to be done there. */
export const isNamespaceEnding = (err: unknown): boolean =>
  isApiError(err, 'NotFound') ||
  (isApiError(err, 'Forbidden') &&
    (err.status?.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating'));
