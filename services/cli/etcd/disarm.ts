import { isStoreError, type Revision } from '../../storage/store.js';
import type { Alarm, Maintenance } from '../../storage/etcd/maintenance.js';
import { CommandError } from '../failure.js';
import { defragmentAll, type DefragmentOptions } from './defragment.js';

/**
 * Makes room and disarms the alarms for space: history is dropped up to now, the members' files are rewritten, and only then
 * etcd is told that there is room. Any other alarm stays.
 *
 * @throws {CommandError} members are not well, or there is no room yet
 */
export async function disarmSpace(o: DefragmentOptions, signal: AbortSignal): Promise<number> {
  const armed = (await o.etcd.alarms(signal)).filter(isSpace);
  if (armed.length === 0) return 0;
  const head = await headOf(o.etcd, signal);
  o.report(`Compacting up to revision ${head}`);
  await o.etcd.compact(head, signal).catch((err: unknown) => {
    if (!isStoreError(err, 'compacted')) throw err;
  });
  await defragmentAll(o, signal);
  for (const alarm of armed) await o.etcd.disarm(alarm, signal);
  if ((await o.etcd.alarms(signal)).some(isSpace)) throw new CommandError('The alarm is back: there is no room yet');
  return armed.length;
}

const isSpace = ({ type }: Alarm): boolean => type === 'NOSPACE';

/** The newest revision that a member tells: an older one would leave history that takes up room. */
async function headOf(etcd: Maintenance, signal: AbortSignal): Promise<Revision> {
  const told = await Promise.all(etcd.endpoints.map((endpoint) => etcd.status(endpoint, signal)));
  return told.map(({ revision }) => revision).reduce((a, b) => (a > b ? a : b));
}
