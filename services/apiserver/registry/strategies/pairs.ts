import type { ApiObject } from '../../../machinery/meta/object.js';

/** A member from before there could be several, and the list that it is the first entry of. */
interface Pair {
  readonly part: 'spec' | 'status';
  readonly one: string;
  readonly all: string;
  /** The member of an entry that has the value; undefined: the entry is the value. */
  readonly member?: string;
}

/**
 * Makes the two say the same. Where they differ the single one counts: a client that knows no list changes it alone, and a
 * merge leaves the other as it was.
 */
const settled =
  ({ part, one, all, member }: Pair) =>
  (object: ApiObject): void => {
    const holder = object[part] as Record<string, unknown> | undefined;
    if (holder === undefined) return;
    const entries = (holder[all] ?? []) as readonly unknown[]; // decoded by its declaration
    const [entry] = entries;
    const first = member === undefined ? entry : (entry as Record<string, unknown> | undefined)?.[member];
    const single = holder[one] ?? '';
    if (single === '' && entries.length > 0) holder[one] = first;
    else if (single !== '' && single !== first) holder[all] = [member === undefined ? single : { [member]: single }];
  };

export const settlePodCidrs = settled({ part: 'spec', one: 'podCIDR', all: 'podCIDRs' });
export const settlePodIps = settled({ part: 'status', one: 'podIP', all: 'podIPs', member: 'ip' });
