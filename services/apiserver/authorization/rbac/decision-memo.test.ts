import assert from 'node:assert/strict';
import type { Decision } from '../authorizer.js';
import { DecisionMemo } from './decision-memo.js';
import { ask, askPath, user } from './testing/rbac-scene.js';

describe('DecisionMemo', () => {
  let memo: DecisionMemo;
  let decided: number;
  beforeEach(() => {
    memo = new DecisionMemo();
    decided = 0;
  });
  const decide = (): Decision => ({ decision: 'allow', reason: String(decided++) });
  const alice = user('alice');
  const get = ask('get', 'pods', 'default', 'x');

  it('decides once while nothing changes', () => {
    assert.equal(memo.of(alice, get, 1, decide), memo.of(alice, { ...get }, 1, decide));
    assert.equal(decided, 1);
  });

  it('decides again after a change', () => {
    memo.of(alice, get, 1, decide);
    memo.of(alice, get, 2, decide);
    assert.equal(decided, 2);
  });

  it('decides for each user', () => {
    memo.of(alice, get, 1, decide);
    memo.of(user('alice'), get, 1, decide);
    assert.equal(decided, 2);
  });

  for (const other of [
    { ...get, verb: 'list' },
    { ...get, group: 'apps' },
    { ...get, resource: 'po', subresource: 'ds' },
    { ...get, namespace: 'defaultx', name: '' },
    { ...get, name: '' },
    askPath('get', '/pods'),
  ]) {
    it(`tells ${JSON.stringify(other)} from the question that was asked`, () => {
      memo.of(alice, get, 1, decide);
      memo.of(alice, other, 1, decide);
      assert.equal(decided, 2);
    });
  }

  const PARTS = ['verb', 'group', 'resource', 'subresource', 'namespace', 'name'] as const;
  for (const [i, left] of PARTS.slice(0, -1).entries()) {
    const right = PARTS[i + 1] ?? left;
    it(`tells questions apart whose ${left} and ${right} are the same together`, () => {
      memo.of(alice, { ...get, [left]: 'ab', [right]: 'c' }, 1, decide);
      memo.of(alice, { ...get, [left]: 'a', [right]: 'bc' }, 1, decide);
      assert.equal(decided, 2);
    });
  }

  it('does not keep long questions', () => {
    const long = askPath('get', `/${'x'.repeat(10_000)}`);
    memo.of(alice, long, 1, decide);
    memo.of(alice, long, 1, decide);
    assert.equal(decided, 2);
  });

  it('lets go of everything before it is too much', () => {
    memo.of(alice, get, 1, decide);
    for (let i = 0; i < 20_000; i++) memo.of(alice, askPath('get', `/${i}`), 1, decide);
    memo.of(alice, get, 1, decide);
    assert.equal(decided, 20_002);
  });
});
