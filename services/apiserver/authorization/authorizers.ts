import { readFileSync } from 'node:fs';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { WebhookMetrics } from '../metrics/webhook-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { ResourceTable } from '../registry/resources.js';
import { abacAuthorizer } from './abac/abac-authorizer.js';
import { parsePolicies, type Policy } from './abac/policies.js';
import { alwaysAllow, alwaysDeny } from './always.js';
import { openNodeAuthorizer } from './node/open.js';
import type { AccessIndex } from './rbac/access-index.js';
import { rbacAuthorizer } from './rbac/rbac-authorizer.js';
import { privilegedGroup } from './privileged.js';
import type { Authorizer } from './authorizer.js';

export interface Authorization {
  /** In the order in which they are asked. */
  readonly authorizers: readonly Authorizer[];
}

export interface AuthorizationDeps {
  readonly vocabulary: Vocabulary;
  readonly resources: ResourceTable;
  /** Who has which roles; there whenever roles decide. */
  readonly access: AccessIndex | undefined;
  readonly log: Log;
  readonly metrics: WebhookMetrics;
  /** Ends with the server. */
  readonly signal: AbortSignal;
}

/** Everybody who decides, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export async function openAuthorization(o: ApiServerOptions, d: AuthorizationDeps): Promise<Authorization> {
  const { vocabulary, resources, access } = d;
  const modes = new Map<string, () => Authorizer | Promise<Authorizer>>([
    ['AlwaysAllow', () => alwaysAllow],
    ['AlwaysDeny', () => alwaysDeny],
    ['ABAC', () => abacAuthorizer(readPolicies(o.authorizationPolicyFile, vocabulary))],
    ['Node', () => openNodeAuthorizer(resources, vocabulary)],
    ['RBAC', () => (access === undefined ? alwaysDeny : rbacAuthorizer(access, vocabulary.groups.rbac))],
    ['Webhook', () => webhookOf(o, d)],
  ]);
  const named = await Promise.all(o.authorizationMode.map(async (mode) => (await modes.get(mode)?.()) ?? alwaysDeny));
  return { authorizers: [privilegedGroup, ...named] };
}

/** Loaded only here: most servers have no such service. */
async function webhookOf(o: ApiServerOptions, { metrics, ...d }: AuthorizationDeps): Promise<Authorizer> {
  const { openWebhookAuthorizer } = await import('./webhook/open.js');
  return openWebhookAuthorizer(o, { ...d, metrics: metrics.authorization });
}

const readPolicies = (file: string, { groups }: Vocabulary): readonly Policy[] =>
  parsePolicies(readFileSync(file, 'utf8'), file, `${groups.abac}/v1beta1`);
