import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { AuditMetrics } from '../metrics/audit-metrics.js';
import type { ApiServerOptions } from '../options/flags.js';
import type { Context, Stage } from '../request/request.js';
import { Batching } from './backends/batching.js';
import { blocking } from './backends/blocking.js';
import { both } from './backends/both.js';
import { LogFile } from './backends/log-file.js';
import { StandardOutput } from './backends/standard-output.js';
import { microClock } from './event/micro-time.js';
import { protobufReader } from './event/protobuf-answer.js';
import { Losses } from './losses.js';
import { decideBy } from './policy/decide.js';
import { auditVersion, readPolicy } from './policy/read.js';
import { auditing, tellRefused, type AuditStageDeps } from './stage.js';
import { ENCODER, type AuditBackend, type OnLost, type Sink } from './backends/backend.js';

/** The audit of a server. */
export interface Audit {
  readonly stage: Stage;
  /** Tells of a request that does not get as far as the stage. */
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

/** Longest that a stopping server waits for each backend. */
const CLOSE_MS = 10_000;
/** Longest that one request to the webhook may take. */
const WEBHOOK_MS = 30_000;
/** Most events in one write of a blocking log. */
const MOST_TOGETHER = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const MB = 1024 * 1024;

/**
 * undefined: nobody is told of anything, which costs nothing.
 *
 * @throws {Error} In one line: a policy that is none, a file that cannot be written, a service that nobody could ask.
 */
export async function openAudit(o: ApiServerOptions, d: AuditDeps): Promise<Audit | undefined> {
  const hasBackend = o.auditLogPath !== '' || o.auditWebhookConfigFile !== '';
  if (o.auditPolicyFile === '' || !hasBackend) {
    if (hasBackend) d.log.warn('No audit event is written: there is no policy that says which');
    else if (o.auditPolicyFile !== '') d.log.warn('No audit event is written: nothing says where to');
    return undefined;
  }
  const decide = decideBy(await readPolicy(o.auditPolicyFile, d.vocabulary));
  const { onLost } = new Losses(d.metrics, d.log);
  const backend = await backendOf(o, d, onLost);
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
  return { stage: auditing(deps), onRefused: tellRefused(deps), close: () => closed(backend, d.log) };
}

/** A disk that does not answer holds nobody up for ever. */
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

const STRICT = 'blocking-strict';

async function backendOf(o: ApiServerOptions, d: AuditDeps, onLost: OnLost): Promise<AuditBackend> {
  const opened: AuditBackend[] = [];
  if (o.auditWebhookConfigFile !== '') opened.push(webhookBackend(o, await openWebhook(o, d, onLost), onLost));
  try {
    if (o.auditLogPath !== '') opened.push(logBackend(o, await openLog(o, d.log), onLost));
  } catch (err) {
    await both(opened).close();
    throw err;
  }
  return both(opened);
}

function logBackend(o: ApiServerOptions, sink: Sink, onLost: OnLost): AuditBackend {
  const bounds = { closeMs: CLOSE_MS, onLost };
  if (o.auditLogMode !== 'batch') {
    return blocking(sink, { ...bounds, strict: o.auditLogMode === STRICT, maxEvents: MOST_TOGETHER });
  }
  return new Batching(sink, {
    ...bounds,
    bufferSize: o.auditLogBatchBufferSize,
    maxEvents: o.auditLogBatchMaxSize,
    maxWaitMs: o.auditLogBatchMaxWaitMs,
  });
}

async function openLog(o: ApiServerOptions, log: Log): Promise<Sink> {
  if (o.auditLogPath === '-') return new StandardOutput();
  return LogFile.open({
    path: o.auditLogPath,
    maxBytes: o.auditLogMaxSizeMb * MB,
    maxBackups: o.auditLogMaxBackups,
    maxAgeMs: o.auditLogMaxAgeDays * DAY_MS,
    compress: o.auditLogCompress,
    nowMs: Date.now,
    log,
  });
}

function webhookBackend(o: ApiServerOptions, sink: Sink, onLost: OnLost): AuditBackend {
  const bounds = { closeMs: CLOSE_MS, onLost, maxEvents: o.auditWebhookBatchMaxSize };
  if (o.auditWebhookMode !== 'batch') return blocking(sink, { ...bounds, strict: o.auditWebhookMode === STRICT });
  const throttle = { perSecond: o.auditWebhookBatchThrottleQps, burst: o.auditWebhookBatchThrottleBurst };
  return new Batching(sink, {
    ...bounds,
    bufferSize: o.auditWebhookBatchBufferSize,
    maxWaitMs: o.auditWebhookBatchMaxWaitMs,
    ...(throttle.perSecond === 0 ? {} : { throttle }),
  });
}

/** Loaded only here: most servers have no such service. */
async function openWebhook(o: ApiServerOptions, { vocabulary, log }: AuditDeps, onLost: OnLost): Promise<Sink> {
  const [{ openRemoteService }, { Webhook }] = await Promise.all([
    import('../../client/remote/open-remote-service.js'),
    import('./backends/webhook.js'),
  ]);
  const options = { timeoutMs: WEBHOOK_MS, name: 'audit webhook', log, vocabulary, wants: 'status' } as const;
  return new Webhook({
    service: openRemoteService(o.auditWebhookConfigFile, options),
    apiVersion: auditVersion(vocabulary),
    initialBackoffMs: o.auditWebhookInitialBackoffMs,
    onLost,
  });
}
