import { isWanted, openPlugins } from '../../machinery/plugins/plugins.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { AuditMetrics } from '../metrics/audit-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { Context, Stage } from '../request/request.js';
import { AUDIT_BACKENDS } from './backends/audit-backends.js';
import { both } from './backends/both.js';
import { microClock } from './event/micro-time.js';
import { protobufReader } from './event/protobuf-answer.js';
import { Losses } from './losses.js';
import { decideBy } from './policy/decide.js';
import { auditVersion, readPolicy } from './policy/read.js';
import { auditing, auditRefused, type AuditStageDeps } from './stage.js';
import { CLOSE_MS, ENCODER, STRICT, type AuditBackend } from './backends/backend.js';

/** Audits the requests of one server. */
export interface Audit {
  readonly stage: Stage;
  /** Audits a request that does not get as far as the stage. */
  readonly onRefused: (ctx: Context) => Promise<void>;
  /** Writes what still waits, within a bound. */
  close(): Promise<void>;
}

export interface AuditDeps {
  readonly vocabulary: Vocabulary;
  readonly catalog: Pick<Catalog, 'types'>;
  readonly metrics: AuditMetrics;
  readonly log: Log;
}

/**
 * undefined: nothing is audited, which costs nothing.
 *
 * @throws {Error} In one line: a policy that is none, a file that cannot be written, a service that cannot be asked.
 */
export async function openAudit(o: ApiServerOptions, d: AuditDeps): Promise<Audit | undefined> {
  const hasBackend = AUDIT_BACKENDS.some((backend) => isWanted(o, backend));
  if (o.auditPolicyFile === '' || !hasBackend) {
    if (hasBackend) d.log.warn('No audit event is written: there is no policy that says which');
    else if (o.auditPolicyFile !== '') d.log.warn('No audit event is written: nothing says where to');
    return undefined;
  }
  const decide = decideBy(await readPolicy(o.auditPolicyFile, d.vocabulary));
  const { onLost } = new Losses(d.metrics, d.log);
  const backend = both([...(await openPlugins(AUDIT_BACKENDS, o, { ...d, onLost })).values()]);
  const deps: AuditStageDeps = {
    decide,
    records: {
      apiVersion: auditVersion(d.vocabulary),
      truncatedAnnotation: d.vocabulary.auditAnnotations.truncated,
      maxEventBytes: o.auditMaxEventBytes,
      backend,
      strict: o.auditLogMode === STRICT || o.auditWebhookMode === STRICT,
      clock: microClock(),
      readProtobuf: protobufReader(d.catalog),
      onEvent: () => d.metrics.event(),
      onUnencodable: (err) => onLost(ENCODER, 1, err),
    },
    onLevel: (level) => d.metrics.level(level),
    onRejected: () => d.metrics.rejected(),
  };
  return { stage: auditing(deps), onRefused: auditRefused(deps), close: () => closed(backend, d.log) };
}

/** Bounded in time, as a disk may never answer. */
async function closed(backend: AuditBackend, log: Log): Promise<void> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    limit = setTimeout(() => {
      log.error('The audit did not end in time', { timeoutMs: CLOSE_MS * 2 });
      resolve();
    }, CLOSE_MS * 2);
  });
  await Promise.race([backend.close(), late]);
  clearTimeout(limit);
}
