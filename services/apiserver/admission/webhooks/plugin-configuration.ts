import { dirname, resolve } from 'node:path';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { readVersioned, text } from '../configuration-members.js';
import type { PluginDocument } from '../configuration.js';

const KIND = 'WebhookAdmissionConfiguration';

/**
 * The client configuration file that the document of a webhook plugin names; undefined where it names none.
 *
 * @throws {Error} In one line, for another document.
 */
export function clientConfigFileOf(
  document: PluginDocument | undefined,
  { groups }: Pick<Vocabulary, 'groups'>,
): string | undefined {
  if (document === undefined) return undefined;
  const { apiserver, apiserverConfig } = groups;
  const apiVersions = [`${apiserverConfig}/v1`, `${apiserverConfig}/v1alpha1`, `${apiserver}/v1alpha1`];
  const { kubeConfigFile } = readVersioned(document, { kind: KIND, apiVersions }, { kubeConfigFile: text });
  return kubeConfigFile === '' ? undefined : resolve(dirname(document.file), kubeConfigFile);
}
