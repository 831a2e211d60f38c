import { openPlugins, type Plugin } from '../../machinery/plugins/plugins.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { WebhookMetrics } from '../metrics/webhook-metrics.js';
import type { AuthorizationMode } from '../options/authorization.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { ResourceTable } from '../registry/resources.js';
import { abacAuthorizer } from './abac/abac-authorizer.js';
import { readPolicies } from './abac/policies.js';
import { alwaysAllow, alwaysDeny, privilegedGroup } from './constant-authorizers.js';
import type { Authorizer } from './authorizer.js';
import { openNodeAuthorizer } from './node/node-authorizer.js';
import type { AccessIndex } from './rbac/access-index.js';
import { rbacAuthorizer } from './rbac/rbac-authorizer.js';

export interface AuthorizersDeps {
  readonly vocabulary: Vocabulary;
  readonly resources: ResourceTable;
  /** The index of roles by user; there whenever roles decide. */
  readonly access: AccessIndex | undefined;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
  /** Ends with the server. */
  readonly signal: AbortSignal;
}

type Entry = Plugin<ApiServerOptions, AuthorizersDeps, Authorizer> & { readonly name: AuthorizationMode };

/** By mode. `--authorization-mode` gives the order in which they are asked. */
export const AUTHORIZERS: readonly Entry[] = [
  { name: 'AlwaysAllow', open: () => alwaysAllow },
  { name: 'AlwaysDeny', open: () => alwaysDeny },
  { name: 'ABAC', open: (o, d) => abacAuthorizer(readPolicies(o.authorizationPolicyFile, d.vocabulary)) },
  { name: 'Node', open: (_, d) => openNodeAuthorizer(d) },
  { name: 'RBAC', open: (_, { access, vocabulary }) => access && rbacAuthorizer(access, vocabulary.groups.rbac) },
  {
    name: 'Webhook', // loaded when it is wanted: most servers ask no such service
    open: async (o, d) => (await import('./webhook/webhook-authorizer.js')).openWebhookAuthorizer(o, d),
  },
];

/** In the order in which they are asked. @throws {Error} In one line, for files that cannot be used. */
export async function openAuthorizers(o: ApiServerOptions, d: AuthorizersDeps): Promise<readonly Authorizer[]> {
  const byMode = new Map(AUTHORIZERS.map((entry) => [entry.name as string, entry]));
  const wanted = o.authorizationMode.map((mode) => {
    const entry = byMode.get(mode);
    if (entry === undefined) throw new Error(`There is no authorizer for the mode ${mode}`);
    return entry;
  });
  return [privilegedGroup, ...(await openPlugins(wanted, o, d)).values()];
}
