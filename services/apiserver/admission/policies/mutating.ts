import { PatchValueError } from '../../../machinery/cel/policies/patch-values.js';
import { hasReason, StatusError } from '../../../machinery/meta/status.js';
import { typeKey } from '../../../machinery/types/catalog.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Type } from '../../../machinery/types/graph.js';
import type { PolicyCheck } from '../../metrics/policy-metrics.js';
import type { AdmissionDeps } from '../admission-plugins.js';
import type { AdmissionPlugin, AdmissionRequest, MutatingPhase } from '../plugin.js';
import { joined, refused } from '../refusal.js';
import { internal } from '../webhooks/errors.js';
import type { Asked } from '../webhooks/matching.js';
import { changeObject } from '../webhooks/patching.js';
import { RoundsOfRequests, type Rounds } from '../webhooks/rounds.js';
import { askConditions } from './conditions.js';
import { errorTypeOf, Evaluation, OutOfBudget, Pace, POLICY_BUDGET } from './evaluation.js';
import { openHooks, type Hook } from './hooks.js';
import { invocationsOf, type Invocation } from './invocations.js';
import { compileMutating, type MutatingPolicy } from './mutation.js';
import { Params, type Param } from './params.js';
import { RequestValues, shownValues } from './request-values.js';

export type MutatingPoliciesDeps = Pick<
  AdmissionDeps,
  'vocabulary' | 'catalog' | 'resources' | 'objects' | 'metrics' | 'live' | 'decide'
>;

/** Changes objects as MutatingAdmissionPolicies say. */
export const mutatingPolicies = (d: MutatingPoliciesDeps): AdmissionPlugin => new MutatingPolicies(d);

/** A policy that failed, which must not. */
interface Failure {
  readonly message: string;
  /** Undefined: that of a refusal. */
  readonly reason: 'Invalid' | undefined;
}

/** What is known while the policies of one request are asked. */
interface Round {
  readonly request: AdmissionRequest;
  readonly values: RequestValues;
  readonly pace: Pace;
}

class MutatingPolicies implements AdmissionPlugin {
  // A deletion has nothing to change.
  readonly operations = ['CREATE', 'UPDATE', 'CONNECT'] as const;
  readonly #d: MutatingPoliciesDeps;
  readonly #params: Params;
  readonly #hooksOf: (asked: Asked) => readonly Hook<MutatingPolicy>[];
  readonly #rounds = new RoundsOfRequests();

  constructor(d: MutatingPoliciesDeps) {
    this.#d = d;
    this.#params = new Params(d);
    this.#hooksOf = openHooks(d, 'mutating', compileMutating);
  }

  mutate(request: AdmissionRequest, phase: MutatingPhase): Promise<void> | undefined {
    const hooks = this.#hooksOf(request);
    return hooks.length === 0 ? undefined : this.#mutate(request, hooks, phase);
  }

  async #mutate(
    request: AdmissionRequest,
    hooks: readonly Hook<MutatingPolicy>[],
    phase: MutatingPhase,
  ): Promise<void> {
    const rounds = this.#rounds.of(request);
    if (phase.isReinvocation) rounds.comeBack(request.object);
    const round = { request, values: new RequestValues(this.#d, request), pace: new Pace(request) };
    const failures: Failure[] = [];
    for (const it of await invocationsOf({ ...this.#d, params: this.#params }, hooks, request)) {
      if (!('error' in it)) {
        for (const param of it.params) failures.push(...(await this.#visit(round, it, param, { rounds, phase })));
      } else if (!it.policy.failsOpen) failures.push(failureOf(it.policy.name, it.binding?.name, it.error));
    }
    rounds.leave(request.object);
    const [first] = failures;
    if (first !== undefined) throw refusalOf(request, first, failures);
  }

  /** One policy with one of its parameters. @returns How it failed. */
  async #visit(
    round: Round,
    it: Invocation<MutatingPolicy>,
    param: Param,
    { rounds, phase }: { readonly rounds: Rounds; readonly phase: MutatingPhase },
  ): Promise<readonly Failure[]> {
    const { policy, binding } = it;
    const id = JSON.stringify([policy.name, binding.name, param.id]);
    const who = { id, isReinvoked: policy.isReinvoked };
    if (phase.isReinvocation && !rounds.isDue(who)) return [];
    const errors: string[] = [];
    const met = await this.#meets(round, it, param);
    if (met !== true) errors.push(...met);
    else if (await this.#change(round, it, param, errors)) {
      rounds.changed();
      phase.reinvoke();
    }
    if (met === true) rounds.saw(who);
    if (policy.failsOpen) return [];
    return errors.map((error) => failureOf(policy.name, binding.name, error, 'Invalid'));
  }

  /** Whether the policy is about the request; no, or why that cannot be told. */
  async #meets(
    { request, values, pace }: Round,
    { policy, as }: Invocation<MutatingPolicy>,
    param: Param,
  ): Promise<true | readonly string[]> {
    const known = await shownValues(values, as, param.value);
    if (typeof known === 'string') return [known];
    const about = { name: policy.name, kind: 'policy', type: 'admit', operation: request.operation } as const;
    const { conditions, variables, failsOpen } = policy;
    const asked = { conditions, variables, failsOpen, about, metrics: this.#d.metrics.policies, pace };
    const matched = await askConditions(asked, () => known);
    if ('errors' in matched) return [joined(matched.errors)];
    return matched.matches ? true : [];
  }

  /** The mutations of a policy, one after the other: each sees what those before it did. @returns Whether any changed the object. */
  async #change(round: Round, it: Invocation<MutatingPolicy>, param: Param, errors: string[]): Promise<boolean> {
    let changed = false;
    if (round.request.object === undefined) return changed;
    for (const mutation of it.policy.mutations) {
      const startedMs = performance.now();
      const error = await this.#one(round, it, param, mutation);
      const seconds = (performance.now() - startedMs) / 1000;
      this.#check(it, typeof error === 'string' ? error : undefined, seconds);
      if (typeof error === 'string') errors.push(error);
      else if (error) changed = true;
    }
    return changed;
  }

  /** @returns Whether the object is another one now; or what is wrong, in words. @throws {StatusError} InternalError */
  async #one(
    { request, values, pace }: Round,
    { policy, as }: Invocation<MutatingPolicy>,
    param: Param,
    { compiled, change }: MutatingPolicy['mutations'][number],
  ): Promise<boolean | string> {
    const known = await shownValues(values, as, param.value);
    if (typeof known === 'string') return known;
    const evaluation = new Evaluation(known, { variables: policy.variables, budget: POLICY_BUDGET, pace });
    try {
      const outcome = await evaluation.evaluate(compiled);
      if ('error' in outcome) return outcome.error;
      const { value } = outcome;
      const type = this.#typeOf(request, as);
      const changed = await changeObject({ ...this.#d, reviews: values }, request, as, {
        apply: (before) => {
          try {
            return change(before, value, type);
          } catch (err) {
            throw new MutationError((err as Error).message, { cause: err });
          }
        },
        onUnknown: refuseUnknown,
      });
      if (changed) values.changed();
      return changed;
    } catch (err) {
      if (err instanceof MutationError || err instanceof OutOfBudget) return err.message;
      if (hasReason(err, 'BadRequest')) return `error applying patch: ${(err as Error).message}`;
      throw err instanceof StatusError ? err : internal((err as Error).message, err);
    }
  }

  /** Of what the request is sent with. */
  #typeOf({ kind, resource }: AdmissionRequest, as: ResourceDeclaration): Type {
    const served = kind.kind === resource.kind ? this.#d.resources.served(as) : undefined;
    return served?.type ?? this.#d.catalog.types.of(typeKey(kind.group, kind.version, kind.kind));
  }

  #check({ policy, binding }: Invocation<MutatingPolicy>, error: string | undefined, seconds: number): void {
    const errorType: PolicyCheck['errorType'] = error === undefined ? 'no_error' : errorTypeOf(error);
    const action = error === undefined ? 'allow' : 'deny';
    this.#d.metrics.policies.checked('mutating', {
      policy: policy.name,
      binding: binding.name,
      errorType,
      action,
      seconds,
    });
  }
}

/** A mutation that cannot be made: a matter of the failure policy. */
class MutationError extends Error {
  override readonly name = 'MutationError';
}

function refuseUnknown(paths: readonly string[]): void {
  if (paths.length === 0) return;
  throw new PatchValueError(`strict decoding error: ${paths.map((it) => `unknown field "${it}"`).join(', ')}`);
}

function failureOf(policy: string, binding: string | undefined, error: string, reason?: 'Invalid'): Failure {
  const who =
    binding === undefined ? `policy ${JSON.stringify(policy)}` : `policy '${policy}' with binding '${binding}'`;
  return { message: `${who} denied request: ${error}`, reason };
}

function refusalOf(request: AdmissionRequest, first: Failure, failures: readonly Failure[]): StatusError {
  const { details, code } = refused(request, '');
  const causes = failures.map(({ message }) => ({ message }));
  return new StatusError(first.reason ?? 'Forbidden', first.message, { code, details: { ...details, causes } });
}
