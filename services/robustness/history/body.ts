import { createHash } from 'node:crypto';
import type { Body, Sent } from './lines.js';

const DIGEST_CHARACTERS = 10;

const sorted = (map: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The same text for the same body, whatever the order of its members. */
export function digestOf({ uid, labels, data, owner = '', deleting }: Body): string {
  const text = JSON.stringify([uid, sorted(labels), sorted(data), owner, deleting === true]);
  return createHash('sha1').update(text).digest('base64').slice(0, DIGEST_CHARACTERS);
}

/** What a write makes of an object. @param before undefined: there was none. */
export function changed(before: Body | undefined, sent: Sent, how: 'whole' | 'merge'): Omit<Body, 'uid'> {
  const base = how === 'whole' ? undefined : before;
  const owner = sent.owner ?? base?.owner;
  return {
    labels: { ...base?.labels, ...sent.labels },
    data: { ...base?.data, ...sent.data },
    ...(owner === undefined ? {} : { owner }),
  };
}

/** Names of what differs, e.g. `data.v`; empty: they are the same but for who they are. */
export function differences(a: Omit<Body, 'uid'>, b: Omit<Body, 'uid'>): string[] {
  const found = a.owner === b.owner ? [] : ['owner'];
  for (const part of ['labels', 'data'] as const) {
    for (const key of new Set([...Object.keys(a[part]), ...Object.keys(b[part])])) {
      if (a[part][key] !== b[part][key]) found.push(`${part}.${key}`);
    }
  }
  return found;
}
