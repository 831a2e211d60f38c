import type { Json } from '../meta/object.js';
import type { BodyLimits } from './json.js';
import { parseJson } from './json.js';
import { parseYaml } from './yaml.js';

/** Bytes to a value. YAML may answer later, for its parser is loaded at first use: always await. */
export type BodyDecoder = (bytes: Buffer, limits?: BodyLimits) => Json | Promise<Json>;

/** By media type, without parameters and in lower case. A new content type is one line here. */
export const BODY_DECODERS: ReadonlyMap<string, BodyDecoder> = new Map<string, BodyDecoder>([
  ['application/json', parseJson],
  ['application/yaml', parseYaml],
]);
