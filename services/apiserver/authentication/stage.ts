import { StatusError } from '../../machinery/meta/status.js';
import { notSettled, type Settled } from '../authorization/starting.js';
import { addWarnings } from '../http/warnings.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import { annotate, type Context, type Stage, type UserInfo } from '../request/request.js';
import { SpeakerRefused, type Authenticator, type Identity } from './authenticator.js';
import { ANONYMOUS, AUTHENTICATED_GROUP } from '../request/users.js';

export interface AuthenticationDeps {
  readonly authenticators: readonly Authenticator[];
  /** Requests without credentials are those of the anonymous user, instead of refused. */
  readonly anonymous: boolean;
  readonly settled: Settled;
  /** Told of every request that is refused here, before it is answered. */
  readonly onRefused: (ctx: Context) => Promise<void> | void;
  readonly metrics: Pick<AccessMetrics, 'authenticated'>;
  readonly log: { debug(message: string, keys?: object): void };
}

/**
 * Finds out who asks. The first authenticator that knows the credentials decides. Credentials that none knows are wrong,
 * not absent: they are refused, even where requests without any are not (spec 2, 5.7). So are those of schemes that no
 * authenticator looks at: their sender is not anonymous.
 */
export const authentication =
  (d: AuthenticationDeps): Stage =>
  async (ctx, next) => {
    const startedMs = performance.now();
    const answer = identify(d.authenticators, ctx);
    const { identity, failures } = answer instanceof Promise ? await answer : answer; // most answer at once
    const carried = (ctx.req.headers.authorization ?? '') !== '' || failures.length > 0;
    const result = identity !== undefined ? 'success' : carried ? 'error' : 'failure';
    d.metrics.authenticated(result, (performance.now() - startedMs) / 1000);
    if (identity === undefined && (carried || !d.anonymous)) {
      for (const { name, err } of failures) d.log.debug('Credentials refused', { authenticator: name, err });
      ctx.state.user = ANONYMOUS;
      await d.onRefused(ctx);
      throw d.settled() ? unauthorized() : notSettled(unauthorized());
    }
    take(ctx, identity);
    await next();
  };

interface Failure {
  readonly name: string;
  readonly err: unknown;
}

interface Outcome {
  readonly identity: Identity | undefined;
  readonly failures: readonly Failure[];
}

const NO_FAILURES: readonly Failure[] = [];

function identify(
  authenticators: readonly Authenticator[],
  ctx: Context,
  first = 0,
  failed = NO_FAILURES,
): Promise<Outcome> | Outcome {
  let failures = failed;
  for (let i = first; i < authenticators.length; i++) {
    const authenticator = authenticators[i];
    if (authenticator === undefined) continue;
    try {
      const answer = authenticator.authenticate(ctx);
      if (answer instanceof Promise) {
        const goOn = (more: readonly Failure[]): Promise<Outcome> | Outcome =>
          identify(authenticators, ctx, endsWith(more) ? Infinity : i + 1, more);
        return answer.then(
          (identity) => (identity === undefined ? goOn(failures) : { identity, failures }),
          (err: unknown) => goOn([...failures, { name: authenticator.name, err }]),
        );
      }
      if (answer !== undefined) return { identity: answer, failures };
    } catch (err) {
      failures = [...failures, { name: authenticator.name, err }];
      if (endsWith(failures)) break;
    }
  }
  return { identity: undefined, failures };
}

/** Whether no authenticator is asked after the last failure. */
const endsWith = (failures: readonly Failure[]): boolean => failures.at(-1)?.err instanceof SpeakerRefused;

function take(ctx: Context, identity: Identity | undefined): void {
  const { state } = ctx;
  if (identity === undefined) {
    state.user = ANONYMOUS;
    return;
  }
  state.user = authenticated(identity.user);
  if (identity.warnings !== undefined) addWarnings(ctx, identity.warnings);
  if (identity.auditAnnotations !== undefined) annotate(state, identity.auditAnnotations);
}

export const unauthorized = (cause?: unknown): StatusError =>
  new StatusError('Unauthorized', 'Unauthorized', { cause });

/** Users are few and their requests many: the same user is not copied for each. */
const completed = new WeakMap<UserInfo, UserInfo>();

/** Every user but the anonymous one belongs to `system:authenticated` (spec 2, 2.1). */
export function authenticated(user: UserInfo): UserInfo {
  if (user.name === ANONYMOUS.name || user.groups.includes(AUTHENTICATED_GROUP)) return user;
  let whole = completed.get(user);
  if (whole === undefined) completed.set(user, (whole = { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] }));
  return whole;
}
