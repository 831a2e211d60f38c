import { A_BOOL, A_TEXT, A_TEXT_OR_NOTHING } from '../../../machinery/cel/policies/composition.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ValidatingAdmissionPolicySpec } from '../../../machinery/types/generated/admissionregistration.v1.js';
import { compileCommon, type CompiledPolicy } from './compiled.js';
import { OutOfBudget, type Compiled, type Evaluation } from './evaluation.js';

interface CompiledValidation {
  readonly compiled: Compiled;
  /** '' for none. */
  readonly message: string;
  readonly messageExpression: Compiled | undefined;
  readonly reason: string;
}

export interface ValidatingPolicy extends CompiledPolicy {
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly { readonly key: string; readonly compiled: Compiled }[];
}

export function compileValidating(policy: ApiObject): ValidatingPolicy {
  const spec = (policy['spec'] ?? {}) as ValidatingAdmissionPolicySpec;
  const { compile, ...common } = compileCommon(policy, spec);
  return {
    ...common,
    validations: (spec.validations ?? []).map(({ expression = '', message = '', messageExpression = '', reason }) => ({
      compiled: compile(expression, A_BOOL),
      message: message.trim(),
      messageExpression:
        messageExpression === '' ? undefined : compile(messageExpression, A_TEXT, { hasAuthorizer: false }),
      reason: reason ?? 'Invalid',
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ key = '', valueExpression = '' }) => ({
      key,
      compiled: compile(valueExpression, A_TEXT_OR_NOTHING),
    })),
  };
}

/** What one expression of a policy says of a request. */
export interface Verdict {
  readonly verdict: 'met' | 'failed' | 'unmet';
  /** Why, but for `met`. */
  readonly message: string;
  /** Of a refusal; '' for the usual one. */
  readonly reason: string;
  readonly seconds: number;
}

/** Longest message that an expression may make, and value of an annotation, in bytes. */
const MOST_MESSAGE = 5 * 1024;
const MOST_ANNOTATION = 10 * 1024;

const secondsSince = (startedMs: number): number => (performance.now() - startedMs) / 1000;

export const failed = (message: string, seconds = 0): Verdict => ({ verdict: 'failed', message, reason: '', seconds });

/** What the validations of a policy say, in their order. @throws {OutOfBudget} */
export async function verdictsOf(policy: ValidatingPolicy, evaluation: Evaluation): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const validation of policy.validations) {
    const startedMs = performance.now();
    const outcome = await evaluation.evaluate(validation.compiled);
    const seconds = secondsSince(startedMs);
    if ('error' in outcome) verdicts.push(failed(outcome.error, seconds));
    else if (outcome.value === true) verdicts.push({ verdict: 'met', message: '', reason: '', seconds });
    else verdicts.push(await unmet(validation, evaluation, seconds));
  }
  return verdicts;
}

async function unmet(validation: CompiledValidation, evaluation: Evaluation, seconds: number): Promise<Verdict> {
  const { message, compiled, reason } = validation;
  try {
    const made = await madeMessage(validation, evaluation);
    const text = [made, message].find((it) => it !== '') ?? `failed expression: ${compiled.source.trim()}`;
    return { verdict: 'unmet', message: text, reason, seconds };
  } catch (err) {
    if (err instanceof OutOfBudget) return failed(`failed messageExpression: ${err.message}`, seconds);
    throw err;
  }
}

/** '' for one that fails, or is no line of text. */
async function madeMessage({ messageExpression }: CompiledValidation, evaluation: Evaluation): Promise<string> {
  if (messageExpression === undefined) return '';
  const outcome = await evaluation.evaluate(messageExpression);
  const text = 'value' in outcome && typeof outcome.value === 'string' ? outcome.value.trim() : '';
  return text.includes('\n') || Buffer.byteLength(text) > MOST_MESSAGE ? '' : text;
}

/** An annotation for the audit event, or why there is none. */
export type Annotation = { readonly key: string; readonly value: string } | { readonly error: Verdict };

/** @throws {OutOfBudget} */
export async function annotationsOf(policy: ValidatingPolicy, evaluation: Evaluation): Promise<readonly Annotation[]> {
  const found: Annotation[] = [];
  for (const { key, compiled } of policy.auditAnnotations) {
    const startedMs = performance.now();
    const outcome = await evaluation.evaluate(compiled);
    if ('error' in outcome) found.push({ error: failed(outcome.error, secondsSince(startedMs)) });
    else if (typeof outcome.value === 'string') {
      const value = outcome.value.trim();
      if (value !== '') found.push({ key, value: shortened(value) });
    }
  }
  return found;
}

const shortened = (value: string): string =>
  Buffer.byteLength(value) <= MOST_ANNOTATION ? value : Buffer.from(value).subarray(0, MOST_ANNOTATION).toString();

/** Values of annotations, of all bindings of a policy together: each once. */
export class Annotations {
  readonly #byKey = new Map<string, Set<string>>();

  add(key: string, value: string): void {
    const values = this.#byKey.get(key) ?? new Set<string>();
    this.#byKey.set(key, values.add(value));
  }

  *entries(): Iterable<readonly [key: string, value: string]> {
    for (const [key, values] of this.#byKey) yield [key, [...values].join(', ')];
  }
}
