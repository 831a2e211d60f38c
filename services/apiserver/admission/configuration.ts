import type * as yamlLibrary from 'yaml';
import { readBoundedLater } from '../../client/kubeconfig/bounded-file.js';
import { shownPath } from '../../machinery/codec/json.js';
import { parseYamlText } from '../../machinery/codec/yaml.js';

/** Names and indexes that lead to a member of a document. */
export type DocumentPath = readonly (string | number)[];

/** What `--admission-control-config-file` says to one plugin. */
export interface PluginDocument {
  /** The file that it is in; relative paths in it start at its directory. */
  readonly file: string;
  /** The parsed document. */
  readonly value: unknown;
  /**
   * An error in one line that names the file, and the line of a member.
   *
   * @param path The names and indexes that lead to the member.
   */
  error(path: DocumentPath, why: string): Error;
}

/** Levels of nesting; configurations need ten. */
const MAX_DEPTH = 100;

/** A file of one document in YAML or JSON, of 1 MB at most. @throws {Error} In one line that names the file, and the line. */
export async function readDocument(file: string): Promise<PluginDocument> {
  return parseDocument(await import('yaml'), (await readBoundedLater(file)).toString('utf8'), file);
}

/** @throws {Error} In one line that names the file, and the line; also for members that are there twice */
export function parseDocument(yaml: typeof yamlLibrary, text: string, file: string): PluginDocument {
  try {
    const value = parseYamlText(yaml, text, MAX_DEPTH);
    return { file, value, error: (path, why) => errorAt(file, path, lineOf(yaml, text, path), why) };
  } catch (err) {
    const problem = err instanceof Error ? err.cause : undefined;
    const [twice] = yaml.parseDocument(text, { schema: 'core', prettyErrors: false, logLevel: 'error' }).errors;
    const at = problem instanceof yaml.YAMLError ? problem : twice;
    const [why = ''] = (err as Error).message.split('\n');
    throw errorAt(file, [], at === undefined ? undefined : lineAt(text, at.pos[0]), why);
  }
}

/** A part of a document as a document of its own. */
export const partOfDocument = (whole: PluginDocument, path: DocumentPath, value: unknown): PluginDocument => ({
  file: whole.file,
  value,
  error: (inner, why) => whole.error([...path, ...inner], why),
});

function errorAt(file: string, path: DocumentPath, line: number | undefined, why: string): Error {
  const where = [file, line === undefined ? '' : `line ${line}`, path.length === 0 ? '' : shownPath(path)];
  return new Error([...where, why].filter((part) => part !== '').join(': '));
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** The line where a member begins; of a member that is not there, that of what it is missing from. */
function lineOf(yaml: typeof yamlLibrary, text: string, path: DocumentPath): number {
  const document = yaml.parseDocument(text, { schema: 'core', uniqueKeys: false, logLevel: 'error' });
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const step of path) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    const found = child(yaml, node, step);
    if (found === undefined) break;
    if (yaml.isNode(found.begin)) offset = found.begin.range?.[0] ?? offset;
    ({ node } = found);
  }
  return lineAt(text, offset);
}

function child(
  yaml: typeof yamlLibrary,
  node: unknown,
  step: string | number,
): { readonly begin: unknown; readonly node: unknown } | undefined {
  if (yaml.isSeq(node) && typeof step === 'number') return { begin: node.items[step], node: node.items[step] };
  if (!yaml.isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => yaml.isScalar(key) && String(key.value) === step);
  return pair && { begin: pair.key, node: pair.value };
}
