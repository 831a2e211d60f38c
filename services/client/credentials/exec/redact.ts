/** Long runs of the letters that tokens and keys are made of; paths and words are shorter between their slashes. */
const SECRET_LIKE = /[A-Za-z0-9_+=.-]{40,}/g;
const SHORTEST_SECRET = 4;

/** Takes the given values out of a text, and what looks like a token or a key. */
export function redacted(text: string, values: readonly string[]): string {
  const known = values.filter((value) => value.length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
  return known.reduce((rest, value) => rest.replaceAll(value, '***'), text).replace(SECRET_LIKE, '***');
}
