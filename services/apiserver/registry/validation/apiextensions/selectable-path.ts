import type { Schema } from './schemas.js';

/** Dots and brackets, texts in quotes (also one that does not end), and what stands between them. */
const TOKENS = /'[^]*?(?<!\\)'|'[^]*|[.[\]]|[^.[\]]+/g;

/**
 * The schema of the field that a path like `.spec.name` leads to, or why it leads nowhere. A name below a map is one of its
 * keys.
 */
export function followPath(path: string, root: Schema): Schema | string {
  const tokens = path.match(TOKENS) ?? [];
  let here = root;
  for (let i = 0; i < tokens.length; i += 2) {
    const [dot = '', name] = tokens.slice(i, i + 2);
    if (dot === '[') return 'array notation is not allowed';
    if (dot !== '.') return `expected [ or . but got: ${dot}`;
    if (name === undefined) return 'unexpected end of JSON path';
    const next = memberOf(here, name);
    if (next === undefined) return 'does not refer to a valid field';
    here = next;
  }
  return here;
}

function memberOf({ properties = {}, additionalProperties }: Schema, name: string): Schema | undefined {
  if (Object.keys(properties).length > 0) return Object.hasOwn(properties, name) ? properties[name] : undefined;
  return typeof additionalProperties === 'object' ? (additionalProperties ?? undefined) : undefined;
}
