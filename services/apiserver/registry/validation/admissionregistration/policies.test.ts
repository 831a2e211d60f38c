import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';

const group = 'admissionregistration.k8s.io';
const kindOf = (kind: string, resource: string): KindUnderTest =>
  new KindUnderTest({ group, resource, type: `${group}/v1.${kind}` });

const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };
const common = (kind: string, spec: object): Record<string, unknown> => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: 'x' },
  spec: { matchConstraints: { resourceRules: [rule] }, ...spec },
});
const C = 'spec.matchConstraints';

/** What both kinds of policies are asked. */
function commonCases(kind: KindUnderTest, policy: Record<string, unknown>): void {
  const condition = { name: 'a', expression: 'true' };
  kind.accepts(policy, [
    { 'spec.paramKind': { apiVersion: 'rules.example.com/v1', kind: 'Limit' } },
    { 'spec.matchConditions': Array.from({ length: 64 }, (_, i) => ({ name: `a${i}`, expression: 'true' })) },
    { 'spec.variables': [{ name: 'a', expression: '1' }, { name: 'b', expression: 'variables.a + 1' }] }, // prettier-ignore
    { [`${C}.resourceRules.0.resourceNames`]: ['a', 'b'] },
    { 'spec.failurePolicy': 'Ignore', [`${C}.matchPolicy`]: 'Exact' },
  ]);
  kind.refuses(policy, [
    [{ [C]: undefined }, C, 'Required value'],
    [{ [`${C}.resourceRules`]: [] }, `${C}.resourceRules`, 'Required value'],
    [
      { [`${C}.resourceRules.0.resourceNames`]: ['a', 'a/b', 'a'] },
      `${C}.resourceRules[0].resourceNames[1]`,
      `Invalid value: "a/b": may not contain '/'`,
      `${C}.resourceRules[0].resourceNames[2]`,
      'Duplicate value: "a"',
    ],
    [
      { [`${C}.excludeResourceRules`]: [{ ...rule, resources: ['*', 'pods'] }] },
      `${C}.excludeResourceRules[0].resources`,
      `Invalid value: []string{"*", "pods"}: if '*' is present, must not specify other resources without subresources`,
    ],
    [
      { [`${C}.matchPolicy`]: 'Like' },
      `${C}.matchPolicy`,
      'Unsupported value: "Like": supported values: "Equivalent", "Exact"',
    ],
    [
      { 'spec.failurePolicy': 'Retry' },
      'spec.failurePolicy',
      'Unsupported value: "Retry": supported values: "Fail", "Ignore"',
    ],
    [
      { 'spec.paramKind': { apiVersion: 'a/b/c', kind: '' } },
      'spec.paramKind.apiVersion',
      'Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.paramKind.kind',
      'Required value',
    ],
    [
      { 'spec.matchConditions': [condition, { ...condition, expression: 'params.x' }, { name: '', expression: ' ' }] },
      'spec.matchConditions[1].expression',
      `Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x\n | ^`,
      'spec.matchConditions[1].name',
      'Duplicate value: "a"',
      'spec.matchConditions[2].expression',
      'Required value',
      'spec.matchConditions[2].name',
      'Required value',
    ],
    [
      { 'spec.variables': [{ name: 'if', expression: '1' }, { name: ' ', expression: '' }] }, // prettier-ignore
      'spec.variables[0].name',
      'Invalid value: "if": must be a valid CEL identifier',
      'spec.variables[1].name',
      'Required value: name is not specified',
      'spec.variables[1].expression',
      'Required value: expression is not specified',
    ],
  ]);

  it('has so many conditions and no more', () => {
    const many = changed(policy, {
      'spec.matchConditions': Array.from({ length: 65 }, (_, i) => ({ name: `a${i}`, expression: 'true' })),
    });
    assert.deepEqual(
      kind.onCreate(many).map(({ field }) => field),
      ['spec.matchConditions'],
    );
    assert.deepEqual(kind.onUpdate(many, many), []);
  });
}

describe('validation of validating policies', () => {
  const kind = kindOf('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
  const V = 'spec.validations';
  const policy = common('ValidatingAdmissionPolicy', {
    validations: [{ expression: 'object.spec.hostNetwork == false', message: 'no', reason: 'Forbidden' }],
    auditAnnotations: [{ key: 'a', valueExpression: '"b"' }],
  });
  kind.acceptsManifest('a policy', policy);
  commonCases(kind, policy);
  kind.accepts(policy, [
    { [V]: undefined },
    { 'spec.auditAnnotations': undefined },
    { [`${V}.0.expression`]: 'authorizer.group("").resource("pods").check("get").allowed()' },
    { [`${V}.0.messageExpression`]: '"x" + string(object.y)' },
    {
      'spec.paramKind': { apiVersion: 'v1', kind: 'ConfigMap' },
      [`${V}.0.messageExpression`]: 'string(params.data.a)',
    },
  ]);
  kind.refuses(policy, [
    [
      { [V]: [], 'spec.auditAnnotations': [] },
      V,
      'Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations',
      'Required value: validations or auditAnnotations must contain at least one item',
    ],
    [{ [`${V}.0.expression`]: ' ' }, `${V}[0].expression`, 'Required value: expression is not specified'],
    [
      { [`${V}.0.expression`]: 'object.a' },
      `${V}[0].expression`,
      'Invalid value: "object.a": must evaluate to bool but got dyn',
    ],
    [
      { [`${V}.0.messageExpression`]: 'true' },
      `${V}[0].messageExpression`,
      'Invalid value: "true": must evaluate to string but got bool',
    ],
    [
      { [`${V}.0.messageExpression`]: 'authorizer.path("/").check("get").reason()' },
      `${V}[0].messageExpression`,
      `Invalid value: "authorizer.path(\\"/\\").check(\\"get\\").reason()": compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path("/").check("get").reason()\n | ^`,
    ],
    [{ [`${V}.0.message`]: 'a\nb' }, `${V}[0].message`, 'Invalid value: "a\\nb": must not contain line breaks'],
    [
      { [`${V}.0.reason`]: 'Gone' },
      `${V}[0].reason`,
      'Unsupported value: "Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
    [
      { 'spec.auditAnnotations.0.valueExpression': '1' },
      'spec.auditAnnotations[0].valueExpression',
      'Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
    [
      { 'spec.auditAnnotations.1': { key: 'a', valueExpression: '"c"' } },
      'spec.auditAnnotations[1].key',
      'Duplicate value: "a"',
    ],
  ]);

  it('asks nothing of expressions that it has taken already', () => {
    const old = changed(policy, { [`${V}.0.expression`]: 'gone()' });
    assert.deepEqual(kind.onUpdate(changed(old, { 'spec.failurePolicy': 'Ignore' }), old), []);
    assert.equal(kind.onUpdate(changed(old, { [`${V}.0.message`]: 'x' }), old).length, 1);
  });
});

describe('validation of mutating policies', () => {
  const kind = kindOf('MutatingAdmissionPolicy', 'mutatingadmissionpolicies');
  const M = 'spec.mutations';
  const policy = common('MutatingAdmissionPolicy', {
    mutations: [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec{a: 1}}' } },
      { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/spec/a"}]' } },
    ],
    reinvocationPolicy: 'IfNeeded',
  });
  kind.acceptsManifest('a policy', policy);
  commonCases(kind, policy);
  kind.refuses(policy, [
    [{ [M]: [] }, M, 'Required value: mutations must contain at least one item'],
    [{ 'spec.reinvocationPolicy': undefined }, 'spec.reinvocationPolicy', 'Required value'],
    [
      { 'spec.reinvocationPolicy': 'Always' },
      'spec.reinvocationPolicy',
      'Unsupported value: "Always": supported values: "IfNeeded", "Never"',
    ],
    [{ [`${M}.0`]: {} }, `${M}[0].patchType`, 'Required value'],
    [
      { [`${M}.0.patchType`]: 'JSONPatch' },
      `${M}[0].applyConfiguration`,
      'Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
      `${M}[0].jsonPatch`,
      'Required value: must be specified when patchType is JSONPatch',
    ],
    [
      { [`${M}.0.applyConfiguration.expression`]: 'Object.spec{}' },
      `${M}[0].applyConfiguration.expression`,
      'Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
    ],
    [
      { [`${M}.1.jsonPatch.expression`]: 'object' },
      `${M}[1].jsonPatch.expression`,
      'Invalid value: "object": must evaluate to list(JSONPatch) but got dyn',
    ],
    [
      { [`${C}.resourceRules.0.operations`]: ['DELETE'] },
      `${C}.resourceRules.operations`,
      'Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ]);
});

describe('validation of bindings', () => {
  const bindings = [
    ['Validating', { validationActions: ['Deny', 'Audit'] }],
    ['Mutating', {}],
  ] as const;
  for (const [which, more] of bindings) {
    const kind = kindOf(`${which}AdmissionPolicyBinding`, `${which.toLowerCase()}admissionpolicybindings`);
    const binding = {
      apiVersion: `${group}/v1`,
      kind: `${which}AdmissionPolicyBinding`,
      metadata: { name: 'x' },
      spec: { policyName: 'x', paramRef: { name: 'a', parameterNotFoundAction: 'Deny' }, ...more },
    };
    kind.acceptsManifest(`a ${which.toLowerCase()} one`, binding);
    kind.refuses(binding, [
      [{ 'spec.policyName': undefined }, 'spec.policyName', 'Required value'],
      [
        { 'spec.paramRef.name': undefined },
        'spec.paramRef',
        'Required value: one of name or selector must be specified',
      ],
      [
        { 'spec.paramRef.selector': {} },
        'spec.paramRef.name',
        'Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector',
        'Forbidden: name and selector are mutually exclusive',
      ],
      [
        { 'spec.paramRef.parameterNotFoundAction': undefined },
        'spec.paramRef.parameterNotFoundAction',
        'Required value',
      ],
      [
        { 'spec.paramRef.parameterNotFoundAction': 'Ask' },
        'spec.paramRef.parameterNotFoundAction',
        'Unsupported value: "Ask": supported values: "Deny", "Allow"',
      ],
    ]);
  }

  const kind = kindOf('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  kind.refuses({ metadata: { name: 'x' }, spec: { policyName: 'x', validationActions: ['Deny'] } }, [
    [{ 'spec.validationActions': [] }, 'spec.validationActions', 'Required value: at least one validation action is required'], // prettier-ignore
    [{ 'spec.validationActions': ['Deny', 'Warn'] }, 'spec.validationActions', `Invalid value: []string{"Deny", "Warn"}: ${both}`], // prettier-ignore
    [{ 'spec.validationActions': ['Ask'] }, 'spec.validationActions[0]', 'Unsupported value: "Ask": supported values: "Audit", "Deny", "Warn"'], // prettier-ignore
  ]);
});
