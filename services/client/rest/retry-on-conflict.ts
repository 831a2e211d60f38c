import { backoffMs } from '../../machinery/loop/backoff.js';
import { rest } from '../../machinery/loop/repeat.js';
import { isApiError, type ResourceClient, type SubresourceOption, type WriteOptions } from './client.js';
import type { AnyObject, Live, ObjectName } from './resource-type.js';

const ATTEMPTS = 5;
const PAUSE = { leastMs: 10, mostMs: 500 };

/**
 * Reads an object, changes it and writes it, again from the start when another one wrote in between; five times at most.
 *
 * @param change The object as it should be; undefined, or the same object: there is nothing to write.
 * @returns What was written, or read where there was nothing to write. @throws {ApiError} The last conflict, and all else.
 */
export async function retryOnConflict<T extends AnyObject>(
  client: Pick<ResourceClient<T>, 'get' | 'update'>,
  name: ObjectName,
  change: (object: Live<T>) => T | undefined,
  o: WriteOptions & SubresourceOption,
  signal: AbortSignal,
): Promise<Live<T>> {
  for (let attempt = 0; ; attempt++) {
    const present = await client.get(name, signal);
    const wanted = change(present);
    if (wanted === undefined || wanted === present) return present;
    try {
      return await client.update(wanted, o, signal);
    } catch (err) {
      if (!isApiError(err, 'Conflict') || attempt + 1 >= ATTEMPTS) throw err;
    }
    await rest(backoffMs(attempt, PAUSE), signal);
    signal.throwIfAborted();
  }
}
