import { createRequire } from 'node:module';
import type * as yamlLibrary from 'yaml';
import { isUtf8 } from 'node:buffer';
import { parseYamlText } from '../../machinery/codec/yaml.js';
import { ClientConfigError } from './member.js';

/** Levels of nesting; what such a file has to say needs ten, an extension some more. */
const MAX_DEPTH = 100;

const require = createRequire(import.meta.url);

/** The parser, loaded when the first file is read, and at once: the files are read before anything is answered. */
export const yamlParser = (): typeof yamlLibrary => require('yaml') as typeof yamlLibrary;

/**
 * The value of YAML or JSON. Members that are there twice are refused, and so is what stands for more than was written.
 *
 * @param file Named in errors, which quote nothing of the text.
 * @throws {ClientConfigError}
 */
export function parseConfigText(bytes: Buffer, file: string): unknown {
  if (!isUtf8(bytes)) throw new ClientConfigError(`${file}: is no text in UTF-8`);
  const text = bytes.toString('utf8');
  const duplicates: string[] = [];
  const value = parse(text, file, duplicates);
  if (duplicates.length > 0) throw new ClientConfigError(`${file}: ${duplicates[0] ?? ''}: is there twice`);
  return value;
}

function parse(text: string, file: string, duplicates: string[]): unknown {
  try {
    return parseYamlText(yamlParser(), text, MAX_DEPTH, duplicates);
  } catch (err) {
    throw new ClientConfigError(`${file}: ${complaint(err, text)}`);
  }
}

/** The parser's own messages quote the text, and so may a cause: they go no further. */
function complaint(err: unknown, text: string): string {
  const problem = err instanceof Error ? err.cause : undefined;
  if (!(problem instanceof yamlParser().YAMLError)) {
    return 'holds aliases, keys, values or a depth that a configuration file cannot have';
  }
  const line = text.slice(0, problem.pos[0]).split('\n').length;
  return `line ${line} is no YAML (${problem.code})`;
}
