import { FlagError, type OptionsOf } from '../../machinery/flags/flags.js';
import { AUDIT_FLAGS as FLAGS } from '../options/audit.js';

type AuditOptions = OptionsOf<typeof FLAGS>;

/** Batches, and what they are taken from. */
const SIZES = [
  ['auditLogBatchMaxSize', 'auditLogBatchBufferSize'],
  ['auditWebhookBatchMaxSize', 'auditWebhookBatchBufferSize'],
] as const satisfies readonly (readonly [keyof AuditOptions, keyof AuditOptions])[];

/**
 * Checks the flags of the audit against each other: a batch larger than the buffer would never be full. @throws
 * {FlagError}
 */
export function checkAudit(o: AuditOptions): void {
  for (const [batch, buffer] of SIZES) {
    if (o[batch] > o[buffer]) throw new FlagError(`--${FLAGS[batch].flag} is larger than --${FLAGS[buffer].flag}`);
  }
}
