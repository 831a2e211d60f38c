import type { AdmissionDeps } from '../admission-plugins.js';
import type { PluginDocument } from '../configuration.js';
import { Callers } from './callers.js';
import { compileWebhooks } from './compiled.js';
import { ANONYMOUS, webhookUsers } from './credentials.js';
import { Matches } from './matching.js';
import { clientConfigFileOf } from './plugin-configuration.js';
import { Pools } from './pools.js';

export type WebhookPluginDeps = Pick<
  AdmissionDeps,
  'vocabulary' | 'catalog' | 'objects' | 'configuration' | 'metrics' | 'log' | 'resources' | 'decide'
>;

/** What both kinds of webhooks have. */
export interface Webhooks {
  readonly callers: Callers;
  /** Of the present configurations. */
  readonly matches: () => Matches;
}

/**
 * @param resource The configurations. @param document What the configuration file says to the plugin.
 * @throws {Error} In one line, for files that cannot be used.
 */
export function openWebhooks(
  d: WebhookPluginDeps,
  resource: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations',
  document: PluginDocument | undefined,
): Webhooks {
  const { vocabulary, objects, log } = d;
  const file = clientConfigFileOf(document, vocabulary);
  const users = file === undefined ? ANONYMOUS : webhookUsers(file, { vocabulary, log });
  const userAgent = `${vocabulary.serverName}-admission`;
  const callers = new Callers({ objects, users, pools: new Pools(), userAgent, log, metrics: d.metrics });
  const group = vocabulary.groups.admissionregistration;
  const matches = objects.derivedFromAll({ group, resource }, (configurations) => {
    const webhooks = compileWebhooks(configurations);
    callers.keep(webhooks);
    return new Matches(webhooks, d);
  });
  return { callers, matches };
}
