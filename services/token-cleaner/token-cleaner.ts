import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import { keyOf, nameOf, type Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import type { Secret } from '../machinery/types/generated/core.v1.js';
import { bootstrapSecrets, expiryOf } from './bootstrap-secret.js';

/** Longest that a timer runs. */
const MAX_WAIT_MS = 24 * 3_600_000;

/** Deletes bootstrap tokens when they expire (spec 2, 5.5). A key is `namespace/name` of a Secret; each has a timer. */
export function openTokenCleaner(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const types = builtInTypes(vocabulary);
  const secrets = informers.of(types.secrets, bootstrapSecrets(vocabulary));
  const add = ({ metadata }: Live<Secret>): void => queue.add(keyOf(metadata));
  secrets.handle({ added: add, updated: add });
  return {
    informers: [secrets],
    workers: 1,
    reconcile: async (key, signal) => {
      const secret = secrets.store.get(key);
      if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return undefined;
      const leftMs = expiryOf(secret) - Date.now();
      if (leftMs === Infinity) return undefined;
      if (leftMs > 0) return { againInMs: Math.min(leftMs, MAX_WAIT_MS) };
      const { uid, resourceVersion } = secret.metadata;
      try {
        // Only the state that was judged: a change may be another expiration.
        await client.resource(types.secrets).delete(nameOf(key), { preconditions: { uid, resourceVersion } }, signal);
      } catch (err) {
        if (!isApiError(err, 'NotFound', 'Conflict')) throw err;
      }
      return undefined;
    },
  };
}
