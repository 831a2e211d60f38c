import type { Log } from '../../../machinery/log/log.js';
import type { ApiServerOptions } from '../../options/flags.js';
import type { AuditBackendDeps } from './audit-backends.js';
import { CLOSE_MS, STRICT, type AuditBackend, type Sink } from './backend.js';
import { Batching } from './batching.js';
import { blocking } from './blocking.js';
import { LogFile } from './log-file.js';
import { StandardOutput } from './standard-output.js';

/** Most events in one write of a blocking log. */
const MOST_TOGETHER = 1_000;
const DAY_MS = 24 * 60 * 60_000;
const MB = 1024 * 1024;

/** @throws {Error} In one line, for a file that cannot be written. */
export async function openLogBackend(o: ApiServerOptions, { log, onLost }: AuditBackendDeps): Promise<AuditBackend> {
  const sink = await openSink(o, log);
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

async function openSink(o: ApiServerOptions, log: Log): Promise<Sink> {
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
