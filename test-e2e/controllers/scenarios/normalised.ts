const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** The end of names that a server or a controller chose. */
const CHOSEN = /(?<=-token-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;

/**
 * A value without what differs each time: uids, times, ends of names that were chosen, members that are undefined. Members come
 * in the order of their names, so that texts can be compared.
 */
export function normalised(value: unknown, suffix: string): unknown {
  const text = JSON.stringify(value, (_, it: unknown) => sorted(it))
    .replaceAll(suffix, '')
    .replace(UID, '<uid>')
    .replace(TIME, '<time>')
    .replace(CHOSEN, '<chosen>');
  return JSON.parse(text);
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
