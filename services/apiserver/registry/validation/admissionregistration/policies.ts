import { isDeepStrictEqual } from 'node:util';
import { Composition } from '../../../../machinery/cel/policies/composition.js';
import { parseApiVersion } from '../../../../machinery/meta/gvk.js';
import { dns1035Label, dns1123Subdomain, pathSegment } from '../../../../machinery/meta/metadata.js';
import type {
  MatchResources,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicySpec,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from '../../../../machinery/types/generated/admissionregistration.v1.js';
import { At, checkRule, each, requireEnum, requireText, shownList } from '../checks/at.js';
import type { KindValidation, Problems, TypeRule } from '../types.js';
import { checkAnnotation, checkConditions, checkMutation, checkValidation, checkVariables } from './expressions.js';

export const checkNamedRule: TypeRule<NamedRuleWithOperations> = (at, { resourceNames }) => {
  const seen = new Set<string>();
  each(at, 'resourceNames', resourceNames, (name, nameAt) => {
    checkRule(nameAt, '', name, pathSegment);
    if (seen.has(name)) nameAt.duplicate('', name);
    seen.add(name);
  });
};

export const checkParamKind: TypeRule<ParamKind> = (at, { apiVersion = '', kind = '' }) => {
  if (apiVersion === '') at.required('apiVersion');
  else checkApiVersion(at, apiVersion);
  if (kind === '') at.required('kind');
  else {
    const problems = dns1035Label(kind.toLowerCase());
    const mixed = 'may have mixed case, but should otherwise match: ';
    if (problems.length > 0) at.invalid('kind', kind, `${mixed}${problems.join(',')}`);
  }
};

function checkApiVersion(at: At, apiVersion: string): void {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) {
    at.invalid('apiVersion', apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
    return;
  }
  const { group, version } = parsed;
  const groupProblems = group === '' ? [] : dns1123Subdomain(group);
  if (groupProblems.length > 0) at.invalid('apiVersion', group, groupProblems.join(','));
  if (version === '') at.invalid('apiVersion', apiVersion, 'version must be specified');
  else {
    const problems = dns1035Label(version);
    if (problems.length > 0) at.invalid('apiVersion', version, problems.join(','));
  }
}

const NOT_BOTH = 'name and selector are mutually exclusive';

export const checkParamRef: TypeRule<ParamRef> = (at, { name = '', selector, parameterNotFoundAction }) => {
  const hasSelector = selector !== undefined;
  if (name !== '') {
    checkRule(at, 'name', name, pathSegment);
    if (hasSelector) {
      at.forbidden('name', NOT_BOTH);
      at.forbidden('selector', NOT_BOTH);
    }
  } else if (!hasSelector) at.required('', 'one of name or selector must be specified');
  requireEnum(at, 'parameterNotFoundAction', parameterNotFoundAction ?? '', ['Deny', 'Allow']);
};

type Spec = ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec;

/** Operations that objects come with that can be changed. */
const CHANGING = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Objects that are on their way out cannot be changed any more. */
function checkChanging(at: At, member: string, { resourceRules }: MatchResources): void {
  for (const { operations = [] } of resourceRules ?? []) {
    for (const operation of operations) {
      if (!CHANGING.includes(operation)) at.notSupported(`${member}.resourceRules.operations`, operation, CHANGING);
    }
  }
}

const hasParams = ({ paramKind }: Spec): boolean => paramKind !== undefined;

/** What policies of both kinds have, before what they say. @param old Of an update: what did not change is not asked again. */
function checkCommon(at: At, spec: Spec, old: Spec | undefined): void {
  const { matchConstraints: constraints, matchConditions } = spec;
  if (constraints === undefined) at.required('matchConstraints');
  else if ((constraints.resourceRules ?? []).length === 0) at.required('matchConstraints.resourceRules');
  const isKept =
    old !== undefined &&
    isDeepStrictEqual(spec.paramKind, old.paramKind) &&
    isDeepStrictEqual(matchConditions, old.matchConditions);
  if (!isKept) checkConditions(at, 'matchConditions', matchConditions, hasParams(spec));
}

const MOST_ANNOTATIONS = 20;

function checkValidating(
  { metadata, spec = {} }: ValidatingAdmissionPolicy,
  old: ValidatingAdmissionPolicySpec | undefined,
  problems: Problems,
): void {
  const at = At.root(problems, 'spec');
  checkCommon(at, spec, old);
  const { validations = [], auditAnnotations = [], variables = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    at.required('validations', why);
    at.required('auditAnnotations', why);
  }
  if (auditAnnotations.length > MOST_ANNOTATIONS) {
    at.invalid('auditAnnotations', auditAnnotations, `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`);
  }
  if (isSame(spec, old, ['paramKind', 'variables', 'validations', 'auditAnnotations'])) return;
  const composition = new Composition({ hasParams: hasParams(spec), hasAuthorizer: true }, variables.length > 0);
  checkVariables(at, variables, composition);
  each(at, 'validations', validations, (it, itAt) => checkValidation(itAt, it, composition));
  const keys = new Set<string>();
  each(at, 'auditAnnotations', auditAnnotations, (it, itAt) => {
    checkAnnotation(itAt, it, metadata?.name ?? '', composition);
    if (keys.has(it.key ?? '')) itAt.duplicate('key', it.key);
    keys.add(it.key ?? '');
  });
}

function checkMutating(
  { spec = {} }: MutatingAdmissionPolicy,
  old: MutatingAdmissionPolicySpec | undefined,
  problems: Problems,
): void {
  const at = At.root(problems, 'spec');
  checkCommon(at, spec, old);
  const { mutations = [], variables = [], matchConstraints, reinvocationPolicy } = spec;
  if (matchConstraints) checkChanging(at, 'matchConstraints', matchConstraints);
  if (mutations.length === 0) at.required('mutations', 'mutations must contain at least one item');
  if (!isSame(spec, old, ['paramKind', 'variables', 'mutations'])) {
    const composition = new Composition({ hasParams: hasParams(spec), hasAuthorizer: true });
    checkVariables(at, variables, composition);
    each(at, 'mutations', mutations, (it, itAt) => checkMutation(itAt, it, composition));
  }
  requireEnum(at, 'reinvocationPolicy', reinvocationPolicy, ['IfNeeded', 'Never']);
}

/** Expressions that compiled once are kept, whatever became of the language since. */
const isSame = <S extends Spec>(spec: S, old: S | undefined, members: readonly (keyof S)[]): boolean =>
  old !== undefined && members.every((member) => isDeepStrictEqual(spec[member], old[member]));

export const validatingPolicies: KindValidation<ValidatingAdmissionPolicy> = {
  create: (policy, problems) => checkValidating(policy, undefined, problems),
  update: (policy, old, problems) => checkValidating(policy, old.spec ?? {}, problems),
};

export const mutatingPolicies: KindValidation<MutatingAdmissionPolicy> = {
  create: (policy, problems) => checkMutating(policy, undefined, problems),
  update: (policy, old, problems) => checkMutating(policy, old.spec ?? {}, problems),
};

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function checkActions(at: At, actions: readonly string[]): void {
  const seen = new Set<string>();
  each(at, 'validationActions', actions, (action, actionAt) => {
    if (!ACTIONS.includes(action)) actionAt.notSupported('', action, ACTIONS);
    if (seen.has(action)) actionAt.duplicate('', action);
    seen.add(action);
  });
  if (seen.has('Deny') && seen.has('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    at.invalidShown('validationActions', shownList(actions), why);
  }
  if (actions.length === 0) at.required('validationActions', 'at least one validation action is required');
}

const checkPolicyName = (at: At, name: string | undefined): void =>
  requireText(at, 'policyName', name, dns1123Subdomain);

export const validatingBindings: KindValidation<ValidatingAdmissionPolicyBinding> = {
  object: ({ spec = {} }, problems) => {
    const at = At.root(problems, 'spec');
    checkPolicyName(at, spec.policyName);
    checkActions(at, spec.validationActions ?? []);
  },
};

export const mutatingBindings: KindValidation<MutatingAdmissionPolicyBinding> = {
  object: ({ spec = {} }, problems) => {
    const at = At.root(problems, 'spec');
    checkPolicyName(at, spec.policyName);
    if (spec.matchResources) checkChanging(at, 'matchResources', spec.matchResources);
  },
};
