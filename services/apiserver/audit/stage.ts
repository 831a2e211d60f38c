import { StatusError } from '../../machinery/meta/status.js';
import type { Context, Stage } from '../request/request.js';
import { AUDIT_ID_HEADER, auditIdOf } from './event/audit-id.js';
import { asker, RequestRecord, type Origin, type RecordDeps, type Shown } from './event/record.js';
import { shownUri } from './event/request-uri.js';
import { sourceAddresses } from './event/source-addresses.js';
import { NOBODY, type Decide, type Decision } from './policy/decide.js';
import { attempted } from './refused.js';
import type { Level } from './backends/backend.js';

export interface AuditStageDeps {
  readonly decide: Decide;
  readonly records: RecordDeps;
  /** Told of every request. */
  readonly onLevel: (level: Level) => void;
  /** Told of a request that fails because nothing can be told of it. */
  readonly onRejected: () => void;
}

/** Audits requests as the policy says: who asks for what, and what becomes of it. */
export const auditing =
  (d: AuditStageDeps): Stage =>
  async (ctx, next) => {
    const { state } = ctx;
    const decision = d.decide(asker(state), state.info);
    d.onLevel(decision.level);
    if (decision.level === 'None') {
      await next();
      return;
    }
    const record = recordOf(d, ctx, decision, state);
    const received = record.received();
    if (received !== undefined && !(await received)) {
      d.onRejected();
      throw notAudited();
    }
    state.audit = record;
    try {
      await next();
    } catch (err) {
      await record.failed(err);
      throw err;
    }
    await record.completed(ctx.status);
  };

/** Audits a request with unknown credentials. It never comes to the stage. */
export const auditRefused =
  (d: AuditStageDeps) =>
  async (ctx: Context): Promise<void> => {
    const { info } = ctx.state;
    const decision = d.decide(NOBODY, info);
    d.onLevel(decision.level);
    if (decision.level === 'None') return;
    await recordOf(d, ctx, decision, { info, user: NOBODY }).refused(attempted(ctx));
  };

const notAudited = (): StatusError =>
  new StatusError('InternalError', 'Internal error occurred: failed to store audit event');

function recordOf(d: AuditStageDeps, ctx: Context, decision: Decision, shown: Shown): RequestRecord {
  const origin = originOf(ctx);
  ctx.res.setHeader(AUDIT_ID_HEADER, origin.auditId);
  return new RequestRecord(d.records, decision, shown, origin);
}

const MOST_AGENT_CHARACTERS = 1024;

function originOf({ req }: Context): Origin {
  const { headers } = req;
  const agent = headers['user-agent'] ?? '';
  return {
    auditId: auditIdOf(headers['audit-id']),
    uri: shownUri(req.url ?? '/'),
    sourceAddresses: sourceAddresses(headers, req.socket.remoteAddress),
    userAgent: agent.length > MOST_AGENT_CHARACTERS ? `${agent.slice(0, MOST_AGENT_CHARACTERS)}...TRUNCATED` : agent,
  };
}
