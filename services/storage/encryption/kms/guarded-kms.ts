import { KmsError, type KmsClient } from './kms-client.js';

/** When a service is left alone: after three failures of this time, until it has had the other. */
const WINDOW_MS = 30_000;
const REST_MS = 10_000;
const FAILURES = 3;

/**
 * Fails at once for a while where a service does not answer, so that nobody waits for each key that it does not decrypt. A
 * status that is answered ends that.
 */
export async function guardedKms(client: KmsClient, o: { readonly restMs?: number } = {}): Promise<KmsClient> {
  const { default: Circuit } = await import('opossum');
  const breaker = new Circuit((work: () => Promise<unknown>) => work(), {
    timeout: false, // each call has its own
    volumeThreshold: FAILURES,
    errorThresholdPercentage: 50,
    rollingCountTimeout: WINDOW_MS,
    resetTimeout: o.restMs ?? REST_MS,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    // A refusal is an answer.
    errorFilter: (err: unknown) => err instanceof KmsError && !err.isOutage,
  });
  const fire = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return (await breaker.fire(work)) as T;
    } catch (err) {
      const isOpen = err instanceof Error && 'code' in err && err.code === 'EOPENBREAKER';
      throw isOpen ? new KmsError('Unavailable', 'It is not asked for a while, for it failed too often') : err;
    }
  };
  return {
    status: async () => {
      const status = await client.status();
      breaker.close();
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
