import { badRequest } from '../../../machinery/meta/status.js';
import type { AdmissionMetrics, WebhookCall, WebhookStep } from '../../metrics/admission-metrics.js';
import type { AdmissionRequest } from '../plugin.js';
import { readAnswer, type Answer } from './answer.js';
import type { Callers } from './callers.js';
import { CallError, callFailed, UNREACHABLE, WebhookDenial } from './errors.js';
import type { Invocation } from './matching.js';
import { post } from './post.js';
import { reviewVersion, type ReviewWriter } from './review.js';

export interface AskingDeps {
  readonly callers: Callers;
  readonly metrics: Pick<AdmissionMetrics, 'called'>;
}

/** One question to one webhook. */
export interface Question {
  readonly request: AdmissionRequest;
  readonly invocation: Invocation;
  readonly reviews: ReviewWriter;
  readonly step: WebhookStep;
  /** Ends the question. */
  readonly signal: AbortSignal;
  /** Takes what the webhook allows. @throws {StatusError} When that cannot be taken. */
  readonly take: (answer: Answer) => void | Promise<void>;
  /** Tells the audit that the webhook has failed and is ignored. */
  readonly onFailedOpen: () => void;
}

/**
 * Asks a webhook whether a request may go on, and does what its failure policy says when it does not answer.
 *
 * @throws {StatusError} BadRequest or the webhook's own when it denies; InternalError when it fails. @throws `signal.reason`
 */
export async function askWebhook(d: AskingDeps, question: Question): Promise<void> {
  const { request, invocation, step, signal } = question;
  const { name, failsOpen } = invocation.webhook;
  const started = performance.now();
  const ended = (how: Pick<WebhookCall, 'code' | 'rejected' | 'failedOpen'>): void =>
    d.metrics.called({
      name,
      step,
      operation: request.operation,
      seconds: (performance.now() - started) / 1000,
      ...how,
    });
  try {
    const answer = await call(d, question);
    signal.throwIfAborted(); // nothing is told to a client that has its answer
    tell(request, name, answer);
    if (!answer.allowed) throw new WebhookDenial(name, answer.denial);
    await question.take(answer);
    ended({ code: 200, rejected: undefined, failedOpen: false });
  } catch (err) {
    if (signal.aborted) throw signal.reason;
    const isIgnored = failsOpen && err instanceof CallError;
    ended({ code: codeOf(err), rejected: isIgnored ? undefined : causeOf(err), failedOpen: isIgnored });
    if (!(err instanceof CallError)) throw err;
    if (!isIgnored) throw callFailed(name, err);
    question.onFailedOpen();
  }
}

const causeOf = (err: unknown): NonNullable<WebhookCall['rejected']> => {
  if (err instanceof WebhookDenial) return 'no_error';
  return err instanceof CallError ? 'calling_webhook_error' : 'apiserver_internal_error';
};

function codeOf(err: unknown): number {
  if (err instanceof WebhookDenial) return err.given;
  return err instanceof CallError ? err.code : 0;
}

/** @throws {CallError} @throws {StatusError} for a dry run that the webhook cannot be told of */
async function call(
  { callers }: AskingDeps,
  { request, invocation, reviews, step, signal }: Question,
): Promise<Answer> {
  const { webhook, as } = invocation;
  if (request.dryRun && !webhook.hasNoSideEffects) {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const version = reviewVersion(webhook.reviewVersions);
  if (version === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallError(`could not create admission objects: ${why}`, UNREACHABLE);
  }
  const caller = callers.of(webhook);
  request.leaveTurn();
  const ready = reviews.ready(as, signal);
  if (ready !== undefined) await ready;
  const review = reviews.write(version, as);
  try {
    const body = await post(caller, review.body, signal, 'failed to call webhook: ');
    return readAnswer(body, review, { name: webhook.name, mutates: step === 'admit' });
  } catch (err) {
    if (err instanceof CallError) caller.outages.failed(err);
    throw err;
  }
}

function tell(request: AdmissionRequest, webhook: string, { warnings, auditAnnotations }: Answer): void {
  for (const text of warnings) if (text !== '') request.warn(text);
  for (const [key, value] of auditAnnotations) request.annotate(`${webhook}/${key}`, value);
}
