import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ApiObject } from '../../../services/machinery/meta/object.js';
import { PROGRAM } from '../../support/program.js';

const ROOT = dirname(dirname(PROGRAM));
const PLACE = join(ROOT, '.cache/definitions');

interface Source {
  readonly name: string;
  /** The folder with the definitions. */
  readonly definitions: string;
}

/** Where the definitions come from, as the program that gets them has it. */
export const sources = (): readonly Source[] =>
  JSON.parse(readFileSync(join(ROOT, 'deploy/definitions/sources.json'), 'utf8')) as Source[];

/** Missing definitions are a failure where everything has to run, and a skip that is told of elsewhere. */
export function needsDefinitions(context: Mocha.Context): void {
  if (existsSync(join(PLACE, 'stamp'))) return;
  const why = 'No published definitions: run deploy/definitions/get-definitions.mjs';
  if ((process.env['CI'] ?? '') !== '') throw new Error(why);
  process.stderr.write(`SKIPPED ${context.test?.parent?.fullTitle() ?? ''}. ${why}\n`);
  context.skip();
}

/** An object of a file, with the path of the file below the folder of its source. */
export interface Published {
  readonly file: string;
  readonly object: ApiObject;
}

/** The objects in the files of a folder, or in one file; what is none, or is a template, is left out. */
export function published(source: string, path: string): Published[] {
  const whole = join(PLACE, source, path);
  if (/\.ya?ml$/.test(path)) return objectsIn(whole).map((object) => ({ file: path, object }));
  return readdirSync(whole, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || /\.ya?ml$/.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => published(source, join(path, entry.name)));
}

function objectsIn(file: string): ApiObject[] {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), { logLevel: 'silent' });
  if ('empty' in documents || documents.some(({ errors }) => errors.length > 0)) return [];
  return documents.map((document) => document.toJS() as unknown).filter(isObject);
}

const isObject = (value: unknown): value is ApiObject =>
  typeof value === 'object' &&
  value !== null &&
  ['apiVersion', 'kind', 'metadata'].every((name) => typeof (value as Record<string, unknown>)[name] !== 'undefined');
