import { LeftAlone, openBreaker, type BreakerObserver } from '../../../machinery/breaker/breaker.js';
import { KmsError, type KmsClient } from './kms-client.js';

/** When a service is left alone: after three failures of this time, until it has had the other. */
const WINDOW_MS = 30_000;
const REST_MS = 10_000;
const FAILURES = 3;

/**
 * Fails at once for a while where a service does not answer, so that nobody waits for each key that it does not decrypt. A
 * status that is answered ends that.
 */
export async function guardedKms(
  client: KmsClient,
  o: { readonly restMs?: number; readonly observer?: BreakerObserver } = {},
): Promise<KmsClient> {
  const breaker = await openBreaker({
    volume: FAILURES,
    failurePercent: 50,
    windowMs: WINDOW_MS,
    restMs: o.restMs ?? REST_MS,
    isFault: (err) => !(err instanceof KmsError) || err.isOutage, // a refusal is an answer
    observer: o.observer,
  });
  const fire = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await breaker.fire(work);
    } catch (err) {
      throw err instanceof LeftAlone ? new KmsError('Unavailable', err.message) : err;
    }
  };
  return {
    status: async () => {
      const status = await client.status();
      breaker.heal();
      return status;
    },
    encrypt: (plaintext, uid) => fire(() => client.encrypt(plaintext, uid)),
    decrypt: (key, uid) => fire(() => client.decrypt(key, uid)),
    close: () => {
      breaker.shutdown();
      client.close();
    },
  };
}
