import type { JsonObject } from '../../machinery/meta/object.js';
import type { AdmissionOperation } from './plugin.js';

const KINDS: Readonly<Record<AdmissionOperation, string | undefined>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: undefined,
};

/**
 * The options of a request as its query gives them, without kind's API version; patches have the options of updates.
 *
 * @returns undefined for a connection, which has none
 */
export function requestOptions(
  operation: AdmissionOperation,
  query: URLSearchParams,
  dryRun: boolean,
): JsonObject | undefined {
  const kind = KINDS[operation];
  if (kind === undefined) return undefined;
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  return {
    kind,
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  };
}
