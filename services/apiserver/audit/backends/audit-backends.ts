import type { Plugin } from '../../../machinery/plugins/plugins.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../../machinery/log/log.js';
import type { AuditMetrics } from '../../metrics/audit-metrics.js';
import type { ApiServerOptions } from '../../options/flags.js';
import type { AuditBackend, OnLost } from './backend.js';

export interface AuditBackendDeps {
  readonly vocabulary: Vocabulary;
  readonly log: Log;
  readonly onLost: OnLost;
  readonly metrics: Pick<AuditMetrics, 'breaker'>;
}

/** Backends of the audit, each loaded when it is wanted. All are told of each event. */
export const AUDIT_BACKENDS: readonly Plugin<ApiServerOptions, AuditBackendDeps, AuditBackend>[] = [
  {
    name: 'webhook',
    flag: 'auditWebhookConfigFile',
    open: async (o, d) => (await import('./webhook.js')).openWebhookBackend(o, d),
  },
  { name: 'log', flag: 'auditLogPath', open: async (o, d) => (await import('./log-backend.js')).openLogBackend(o, d) },
];
