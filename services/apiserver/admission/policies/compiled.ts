import { ANYTHING, Composition, ExpressionError, type Wanted } from '../../../machinery/cel/policies/composition.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type {
  MatchCondition,
  MatchResources,
  MutatingAdmissionPolicyBindingSpec,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicyBindingSpec,
  Variable,
} from '../../../machinery/types/generated/admissionregistration.v1.js';
import { A_BOOL } from '../../../machinery/cel/policies/composition.js';
import { constraintsOf, type Constraints } from './constraints.js';
import type { Condition } from './conditions.js';
import type { Compiled, Variables } from './evaluation.js';

/** What policies of both kinds have. */
export interface CompiledPolicy {
  readonly name: string;
  readonly failsOpen: boolean;
  readonly paramKind: ParamKind | undefined;
  readonly constraints: Constraints;
  readonly variables: Variables;
  readonly conditions: readonly Condition[];
}

export interface CompiledBinding {
  readonly name: string;
  readonly policyName: string;
  readonly paramRef: ParamRef | undefined;
  /** Absent: all that the policy is about. */
  readonly constraints: Constraints | undefined;
  /** Of validating policies: Deny, Warn, Audit. */
  readonly actions: readonly string[];
}

/** The members that both kinds of policies have. */
export interface CommonSpec {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly variables?: readonly Variable[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly failurePolicy?: string;
}

/** Compiles an expression, or keeps why it does not compile: it is told when it is wanted. */
export function compiled(
  source: string,
  compile: () => Extract<Compiled, { expression: unknown }>['expression'],
): Compiled {
  try {
    return { source, expression: compile() };
  } catch (err) {
    if (err instanceof ExpressionError) return { source, error: err.message };
    throw err;
  }
}

/** What policies of both kinds have, and what compiles the expressions that they have besides. */
export function compileCommon(
  { metadata }: ApiObject,
  spec: CommonSpec,
): CompiledPolicy & {
  readonly compile: (source: string, wanted: Wanted, said?: { readonly hasAuthorizer?: boolean }) => Compiled;
} {
  const composition = new Composition({ hasParams: spec.paramKind !== undefined, hasAuthorizer: true });
  const compile = (source = '', wanted: Wanted = ANYTHING, said = {}): Compiled =>
    compiled(source, () => composition.expression(source, wanted, said));
  const variables = new Map(
    (spec.variables ?? []).map(({ name = '', expression: source = '' }): [string, Compiled] => [
      name,
      compiled(source, () => composition.variable(name, source)),
    ]),
  );
  return {
    name: metadata.name ?? '',
    failsOpen: spec.failurePolicy === 'Ignore',
    paramKind: spec.paramKind,
    constraints: constraintsOf(spec.matchConstraints ?? {}),
    variables,
    conditions: (spec.matchConditions ?? []).map(({ name = '', expression = '' }) => ({
      name,
      compiled: compile(expression, A_BOOL),
    })),
    compile,
  };
}

/** Of either kind. */
export function compileBinding(object: ApiObject): CompiledBinding {
  const spec = (object['spec'] ?? {}) as ValidatingAdmissionPolicyBindingSpec & MutatingAdmissionPolicyBindingSpec;
  const { matchResources } = spec;
  return {
    name: object.metadata.name ?? '',
    policyName: spec.policyName ?? '',
    paramRef: spec.paramRef,
    constraints: matchResources ? constraintsOf(matchResources) : undefined,
    actions: spec.validationActions ?? [],
  };
}
