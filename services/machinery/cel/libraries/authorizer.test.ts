import assert from 'node:assert/strict';
import { CelTypeError } from '../check.js';
import { expression } from '../expression.js';
import type { CelType } from '../types.js';
import { BudgetError, CelError } from '../values.js';
import { authorizer, AUTHORIZER_TYPE, type AccessAnswer, type AccessQuestion } from './authorizer.js';

const VARIABLES = new Map<string, CelType>([['authorizer', AUTHORIZER_TYPE]]);
const NOTHING = { serviceAccount: undefined, path: undefined, group: '', resource: '', subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' }; // prettier-ignore

function asked(source: string, answer: Partial<AccessAnswer> = {}, budget = 1_000_000) {
  const questions: AccessQuestion[] = [];
  const variable = authorizer(
    (question) => {
      questions.push(question);
      return { allowed: true, reason: 'because', error: '', ...answer };
    },
    { group: 'apps', resource: 'deployments', namespace: 'ns', name: 'web' },
  );
  const { value, left } = expression(source, VARIABLES).evaluate({ authorizer: variable }, budget);
  return { value, questions, left };
}

describe('ACCESS', () => {
  const QUESTIONS: readonly (readonly [string, Partial<AccessQuestion>])[] = [
    [`authorizer.path('/healthz').check('get').allowed()`, { path: '/healthz', verb: 'get' }],
    [`authorizer.group('').resource('pods').check('list').allowed()`, { resource: 'pods', verb: 'list' }],
    [
      `authorizer.group('apps').resource('d').subresource('scale').namespace('n').name('x').check('update').allowed()`,
      { group: 'apps', resource: 'd', subresource: 'scale', namespace: 'n', name: 'x', verb: 'update' },
    ],
    [
      `authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('list').allowed()`,
      { resource: 'pods', fieldSelector: 'a=b', labelSelector: 'c', verb: 'list' },
    ],
    [
      `authorizer.serviceAccount('ns', 'robot').group('').resource('pods').check('get').allowed()`,
      { serviceAccount: { namespace: 'ns', name: 'robot' }, resource: 'pods', verb: 'get' },
    ],
    [
      `authorizer.requestResource.check('custom').allowed()`,
      { group: 'apps', resource: 'deployments', namespace: 'ns', name: 'web', verb: 'custom' },
    ],
    [
      `authorizer.requestResource.subresource('status').check('custom').allowed()`,
      { group: 'apps', resource: 'deployments', subresource: 'status', namespace: 'ns', name: 'web', verb: 'custom' },
    ],
  ];
  for (const [source, wanted] of QUESTIONS) {
    it(source, () => {
      const { value, questions } = asked(source);
      assert.equal(value, true);
      assert.deepEqual(questions, [{ ...NOTHING, ...wanted }]);
    });
  }

  it('tells of the decision', () => {
    const check = `authorizer.path('/x').check('get')`;
    assert.equal(asked(`${check}.reason()`).value, 'because');
    assert.equal(asked(`${check}.allowed()`, { allowed: false }).value, false);
    assert.equal(asked(`${check}.errored()`).value, false);
    assert.equal(asked(`${check}.errored()`, { error: 'away' }).value, true);
    assert.equal(asked(`${check}.error()`, { error: 'away' }).value, 'away');
  });

  it('is dear', () => {
    const check = `authorizer.path('/x').check('get').allowed()`;
    assert.ok(asked(check).left < 650_000);
    assert.throws(() => asked(`${check} && ${check} && ${check}`), BudgetError);
  });

  for (const source of [
    `authorizer.path(' ').check('get').allowed()`,
    `authorizer.group('').resource('').check('get').allowed()`,
    `authorizer.serviceAccount('N S', 'a').path('/').check('get').allowed()`,
    `authorizer.serviceAccount('ns', 'A B').path('/').check('get').allowed()`,
  ]) {
    it(`fails: ${source}`, () => assert.throws(() => asked(source), CelError));
  }

  for (const source of [
    `authorizer.group('').check('get').allowed()`,
    `authorizer.path('/x').namespace('a')`,
    `authorizer.other`,
    `authorizer.path('/x').check('get') && true`,
  ]) {
    it(`is no question: ${source}`, () => assert.throws(() => asked(source), CelTypeError));
  }
});
