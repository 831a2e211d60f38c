import { StatusError, type Reason } from '../../../machinery/meta/status.js';
import type { AdmissionDeps } from '../admission-plugins.js';
import type { PolicyCheck } from '../../metrics/policy-metrics.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { joined, refused } from '../refusal.js';
import type { Asked } from '../webhooks/matching.js';
import type { CompiledBinding } from './compiled.js';
import { askConditions } from './conditions.js';
import { errorTypeOf, Evaluation, OutOfBudget, Pace, POLICY_BUDGET } from './evaluation.js';
import { openHooks, type Hook } from './hooks.js';
import { invocationsOf, type Invocation } from './invocations.js';
import { Params, type Param } from './params.js';
import { RequestValues, shownValues } from './request-values.js';
import {
  Annotations,
  annotationsOf,
  compileValidating,
  failed,
  verdictsOf,
  type Annotation,
  type ValidatingPolicy,
  type Verdict,
} from './validation.js';

export type PolicyPluginDeps = Pick<
  AdmissionDeps,
  'vocabulary' | 'resources' | 'objects' | 'metrics' | 'live' | 'decide'
>;

/** Holds requests against ValidatingAdmissionPolicies. */
export const validatingPolicies = (d: PolicyPluginDeps): AdmissionPlugin => new ValidatingPolicies(d);

/** Why a request is refused. */
interface Denial {
  readonly policy: string;
  /** '' for none. */
  readonly binding: string;
  readonly message: string;
  readonly reason: string;
}

/** What a policy says of a request, with one of its parameters. */
interface Said {
  readonly verdicts: readonly Verdict[];
  readonly annotations: readonly Annotation[];
}

class ValidatingPolicies implements AdmissionPlugin {
  readonly operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
  readonly #d: PolicyPluginDeps;
  readonly #params: Params;
  readonly #hooksOf: (asked: Asked) => readonly Hook<ValidatingPolicy>[];

  constructor(d: PolicyPluginDeps) {
    this.#d = d;
    this.#params = new Params(d);
    this.#hooksOf = openHooks(d, 'validating', compileValidating);
  }

  validate(request: AdmissionRequest): Promise<void> | undefined {
    const hooks = this.#hooksOf(request);
    return hooks.length === 0 ? undefined : this.#validate(request, hooks);
  }

  async #validate(request: AdmissionRequest, hooks: readonly Hook<ValidatingPolicy>[]): Promise<void> {
    const denials: Denial[] = [];
    const values = new RequestValues(this.#d, request);
    const annotations = new Map<string, Annotations>();
    const pace = new Pace(request);
    const found = await invocationsOf({ ...this.#d, params: this.#params }, hooks, request);
    for (const it of found) {
      if ('error' in it) {
        const { policy, binding, error } = it;
        if (policy.failsOpen) continue;
        denials.push({ policy: policy.name, binding: binding?.name ?? '', message: error, reason: '' });
        continue;
      }
      for (const param of it.params) {
        const said = await this.#ask(request, it, param, { values, pace });
        denials.push(
          ...this.#enforce(request, it, said.verdicts),
          ...this.#annotate(it, said.annotations, annotations),
        );
      }
    }
    for (const [policy, of] of annotations) {
      for (const [key, value] of of.entries()) request.annotate(`${policy}/${key}`, value);
    }
    const [first] = denials;
    if (first !== undefined) throw refusalOf(request, first);
  }

  async #ask(
    request: AdmissionRequest,
    { policy, as }: Invocation<ValidatingPolicy>,
    param: Param,
    { values, pace }: { readonly values: RequestValues; readonly pace: Pace },
  ): Promise<Said> {
    const known = await shownValues(values, as, param.value);
    if (typeof known === 'string') return { verdicts: [failed(known)], annotations: [] };
    const about = { name: policy.name, kind: 'policy', type: 'validate', operation: request.operation } as const;
    const { conditions, variables } = policy;
    const asked = {
      conditions,
      variables,
      failsOpen: policy.failsOpen,
      about,
      metrics: this.#d.metrics.policies,
      pace,
    };
    const matched = await askConditions(asked, () => known);
    if ('errors' in matched) return { verdicts: [failed(joined(matched.errors))], annotations: [] };
    if (!matched.matches) return { verdicts: [], annotations: [] };
    try {
      const verdicts = await verdictsOf(policy, new Evaluation(known, { variables, budget: POLICY_BUDGET, pace }));
      const annotations = await annotationsOf(
        policy,
        new Evaluation(known, { variables, budget: POLICY_BUDGET, pace }),
      );
      return { verdicts, annotations };
    } catch (err) {
      if (err instanceof OutOfBudget) return { verdicts: [failed(err.message)], annotations: [] };
      throw err;
    }
  }

  /** Does what a binding says. @returns Why the request is refused. */
  #enforce(
    request: AdmissionRequest,
    { policy, binding }: Invocation<ValidatingPolicy>,
    verdicts: readonly Verdict[],
  ): readonly Denial[] {
    return verdicts.flatMap((verdict, i) => {
      if (verdict.verdict === 'met') return [];
      if (verdict.verdict === 'failed' && policy.failsOpen) {
        this.#check(policy, binding, verdict, 'allow');
        return [];
      }
      for (const action of binding.actions) {
        this.#check(policy, binding, verdict, action.toLowerCase() as PolicyCheck['action']);
        if (action === 'Warn') {
          const where = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
          request.warn(`Validation failed for ${where}: ${verdict.message}`);
        } else if (action === 'Audit') this.#tellAudit(request, binding, verdict, i);
      }
      return binding.actions.includes('Deny') ? [denialOf(policy, binding, verdict)] : [];
    });
  }

  #annotate(
    { policy, binding }: Invocation<ValidatingPolicy>,
    annotations: readonly Annotation[],
    byPolicy: Map<string, Annotations>,
  ): readonly Denial[] {
    return annotations.flatMap((it) => {
      if ('key' in it) {
        const of = byPolicy.get(policy.name) ?? new Annotations();
        of.add(it.key, it.value);
        byPolicy.set(policy.name, of);
        return [];
      }
      if (policy.failsOpen) return [];
      this.#check(policy, binding, it.error, 'deny');
      return [denialOf(policy, binding, it.error)];
    });
  }

  #tellAudit(request: AdmissionRequest, binding: CompiledBinding, { message }: Verdict, expressionIndex: number): void {
    const told = {
      message,
      policy: binding.policyName,
      binding: binding.name,
      expressionIndex,
      validationActions: binding.actions,
    };
    request.annotate(this.#d.vocabulary.auditAnnotations.validationFailure, JSON.stringify([told]));
  }

  #check(policy: ValidatingPolicy, binding: CompiledBinding, verdict: Verdict, action: PolicyCheck['action']): void {
    const { message, seconds } = verdict;
    const errorType = errorTypeOf(message);
    const check = { policy: policy.name, binding: binding.name, errorType, action, seconds };
    this.#d.metrics.policies.checked('validating', check);
  }
}

const denialOf = (policy: ValidatingPolicy, binding: CompiledBinding, { message, reason }: Verdict): Denial => ({
  policy: policy.name,
  binding: binding.name,
  message,
  reason,
});

/** Reasons of refusals that policies may give. */
const REASONS: ReadonlySet<string> = new Set<Reason>(['Unauthorized', 'Forbidden', 'RequestEntityTooLarge']);

function refusalOf(request: AdmissionRequest, { policy, binding, message, reason }: Denial): StatusError {
  const who = `ValidatingAdmissionPolicy '${policy}'${binding === '' ? '' : ` with binding '${binding}'`}`;
  const why = `${who} denied request: ${message}`;
  const { message: shown, details } = refused(request, why);
  const kind = (REASONS.has(reason) ? reason : 'Invalid') as Reason;
  return new StatusError(kind, shown, { details: { ...details, causes: [{ message: why }] } });
}
