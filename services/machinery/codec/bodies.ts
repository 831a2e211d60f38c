import type { Json } from '../meta/object.js';
import { decodeJson, type BodyLimits } from './json.js';
import { parseYaml } from './yaml.js';

/**
 * Bytes to a value. YAML may answer later, for its parser is loaded at first use: always await.
 *
 * @param duplicates Takes the paths of members that the text names twice; without it they are not looked for in JSON,
 * and YAML refuses them.
 * @param literals Takes how numbers with a fraction or an exponent are written in JSON; in YAML `1.0` is an integer.
 */
export type BodyDecoder = (
  bytes: Buffer,
  limits?: BodyLimits,
  duplicates?: string[],
  literals?: Map<string, string>,
) => Json | Promise<Json>;

/** By media type, without parameters and in lower case. A new content type is one line here. */
export const BODY_DECODERS: ReadonlyMap<string, BodyDecoder> = new Map<string, BodyDecoder>([
  ['application/json', decodeJson],
  ['application/yaml', parseYaml],
]);
