import { dirname, resolve } from 'node:path';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { anything, list, object, readVersioned, required, text } from './configuration-members.js';
import { partOfDocument, readDocument, type PluginDocument } from './configuration.js';

export interface AdmissionConfiguration {
  /** By the names of plugins. */
  readonly documents: ReadonlyMap<string, PluginDocument>;
  /** The apiVersion of the file, and the one to use, where these differ. */
  readonly deprecated?: { readonly apiVersion: string; readonly use: string };
}

const PLUGINS = list(object({ name: required(text), path: text, configuration: anything }));

/**
 * Reads `--admission-control-config-file`, and the files that it names.
 *
 * @param file '' for none. @param known Names of plugins that there are.
 * @throws {Error} In one line that names the file and the line
 */
export async function readAdmissionConfiguration(
  file: string,
  { groups }: Pick<Vocabulary, 'groups'>,
  known: readonly string[],
): Promise<AdmissionConfiguration> {
  const documents = new Map<string, PluginDocument>();
  if (file === '') return { documents };
  const document = await readDocument(file);
  const current = `${groups.apiserverConfig}/v1`;
  const deprecated = [`${groups.apiserverConfig}/v1alpha1`, `${groups.apiserver}/v1alpha1`];
  const type = { kind: 'AdmissionConfiguration', apiVersions: [current, ...deprecated] };
  const { apiVersion, plugins } = readVersioned(document, type, { plugins: PLUGINS });
  for (const [i, { name, path, configuration }] of plugins.entries()) {
    const fail = (member: string, why: string): Error => document.error(['plugins', i, member], why);
    if (!known.includes(name)) throw fail('name', `there is no plugin ${JSON.stringify(name)}`);
    if (plugins.findIndex((other) => other.name === name) < i)
      throw fail('name', `${JSON.stringify(name)} is there twice`);
    if (path !== '' && configuration !== undefined) throw fail('path', 'goes not together with configuration');
    if (path !== '') documents.set(name, await readDocument(resolve(dirname(file), path)));
    else if (configuration !== undefined) {
      documents.set(name, partOfDocument(document, ['plugins', i, 'configuration'], configuration));
    }
  }
  return apiVersion === current ? { documents } : { documents, deprecated: { apiVersion, use: current } };
}
