import type { FlagTable } from '../../machinery/flags/flags.js';

export const AUTHORIZATION_MODES = ['Node', 'ABAC', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;

export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number];

/** Flags of authorization (spec 2, 5.9). */
export const AUTHORIZATION_FLAGS = {
  authorizationMode: {
    flag: 'authorization-mode',
    type: 'list',
    metavar: 'MODE,...',
    default: 'Node,RBAC',
    choices: AUTHORIZATION_MODES,
    help: 'who decides what users may do, in this order; the first with an opinion decides',
  },
  authorizationPolicyFile: {
    flag: 'authorization-policy-file',
    type: 'string',
    metavar: 'FILE',
    help: 'policies of the mode ABAC, one JSON object a line',
  },
  authorizationWebhookConfigFile: {
    flag: 'authorization-webhook-config-file',
    type: 'string',
    metavar: 'FILE',
    help: 'client configuration of the service that decides in the mode Webhook',
  },
  authorizationWebhookVersion: {
    flag: 'authorization-webhook-version',
    type: 'string',
    default: 'v1beta1',
    choices: ['v1beta1', 'v1'],
    help: 'version of the reviews that it is sent',
  },
  authorizationWebhookAuthorizedTtlMs: {
    flag: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m',
    help: 'how long it is remembered that it allowed something',
  },
  authorizationWebhookUnauthorizedTtlMs: {
    flag: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    help: 'how long it is remembered that it did not',
  },
} as const satisfies FlagTable;
