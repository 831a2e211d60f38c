import { setOwn } from '../../machinery/meta/own.js';

/** Notes a value of a user's attribute whose key came in the name of a header: percent-encoded, and in any case. */
export function addExtra(extra: Record<string, string[]>, encoded: string, value: string): void {
  const key = decodedKey(encoded.toLowerCase());
  const values = Object.hasOwn(extra, key) ? extra[key] : undefined;
  if (values === undefined) setOwn(extra, key, [value]);
  else values.push(value);
}

/** Escapes that are none are part of the key, as other servers have it. */
function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
