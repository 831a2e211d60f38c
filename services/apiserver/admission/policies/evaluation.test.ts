import assert from 'node:assert/strict';
import { authorizer } from '../../../machinery/cel/libraries/authorizer.js';
import { jsonValue } from '../../../machinery/cel/json-values.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Value } from '../../../machinery/cel/values.js';
import type { Attributes, Decision, ResourceAttributes } from '../../authorization/authorizer.js';
import { CountedPolicies } from '../../metrics/policy-metrics.js';
import { AccessAnswers } from './asking.js';
import { compileCommon, type CommonSpec } from './compiled.js';
import { askConditions } from './conditions.js';
import { Evaluation, OutOfBudget, Pace, POLICY_BUDGET, type Outcome } from './evaluation.js';
import { A_BOOL, ANYTHING } from '../../../machinery/cel/policies/composition.js';

const STAYS = { signal: new AbortController().signal };
const POLICY = { metadata: { name: 'p' } } as ApiObject;
const OBJECT = jsonValue({ a: 1, list: Array.from({ length: 2_000 }, (_, i) => i) });

/** Evaluates expressions one after the other, as one policy does. */
async function evaluated(
  sources: readonly string[],
  o: { readonly spec?: CommonSpec; readonly values?: Readonly<Record<string, Value>>; readonly budget?: number } = {},
): Promise<readonly Outcome[]> {
  const { compile, variables } = compileCommon(POLICY, o.spec ?? {});
  const budget = o.budget ?? POLICY_BUDGET;
  const evaluation = new Evaluation({ object: OBJECT, ...o.values }, { variables, budget, pace: new Pace(STAYS) });
  const outcomes: Outcome[] = [];
  for (const source of sources) outcomes.push(await evaluation.evaluate(compile(source, ANYTHING)));
  return outcomes;
}
const variables = (of: Readonly<Record<string, string>>): CommonSpec => ({
  variables: Object.entries(of).map(([name, expression]) => ({ name, expression })),
});
const DEAR = 'object.list.all(x, object.list.size() > x)';

describe('Evaluation', () => {
  it('tells of failures, and of what does not compile', async () => {
    assert.deepEqual(await evaluated(['object.a == 1', 'object.b', 'nothing', '1 / 0 == 1 || true']), [
      { value: true },
      { error: "expression 'object.b' resulted in error: no such key: b" },
      {
        error:
          "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing\n | ^",
      },
      { value: true },
    ]);
  });

  it('finds variables out when they are wanted, once, and from those before them', async () => {
    let asked = 0;
    const trap = new Proxy({ a: 5 }, { getOwnPropertyDescriptor: (of, key) => (asked++, Reflect.getOwnPropertyDescriptor(of, key)) }); // prettier-ignore
    const spec = variables({ one: 'object.a', two: 'variables.one + variables.one', broken: 'object.nothing' });
    const values = { object: jsonValue(trap) };
    assert.deepEqual(await evaluated(['true || variables.broken == 1'], { spec, values }), [{ value: true }]);
    assert.equal(asked, 0);
    const outcomes = await evaluated(['variables.two == 10', 'variables.one == 5', 'variables.broken == 1'], { spec, values }); // prettier-ignore
    assert.deepEqual(outcomes, [
      { value: true },
      { value: true },
      { error: `expression 'variables.broken == 1' resulted in error: composited variable "broken" fails to evaluate: no such key: nothing` }, // prettier-ignore
    ]);
  });

  it('knows no variable before it is declared, nor one that does not compile', async () => {
    const spec = variables({ early: 'variables.late', late: '1' });
    const [early, none] = await evaluated(['variables.early == 1', 'variables.nothing == 1'], { spec });
    assert.ok(early && 'error' in early && /composited variable "early" fails to compile: .*undefined field 'late'/s.test(early.error)); // prettier-ignore
    assert.ok(none && 'error' in none && /undefined field 'nothing'/.test(none.error));
  });

  it('ends an expression that costs too much, and all of them when they do together', async () => {
    const [, dear] = await evaluated(['true', DEAR.replace('> x', `> x && ${DEAR.replaceAll('x', 'y')}`)]);
    assert.ok(dear && 'error' in dear && dear.error.endsWith('actual cost limit exceeded'));
    await assert.rejects(evaluated(Array.from({ length: 20 }, () => DEAR), { budget: 50_000 }), OutOfBudget); // prettier-ignore
    assert.equal((await evaluated(Array.from({ length: 20 }, () => DEAR))).length, 20);
  });

  it('charges for variables as for the rest', async () => {
    const spec = variables(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, DEAR])));
    const all = Array.from({ length: 20 }, (_, i) => `variables.v${i}`).join(' && ');
    assert.deepEqual(await evaluated([all], { spec }), [{ value: true }]);
    await assert.rejects(evaluated([all], { spec, budget: 50_000 }), OutOfBudget);
    assert.deepEqual(await evaluated(['variables.v0', 'variables.v0', 'variables.v0'], { spec, budget: 20_000 }), [
      { value: true },
      { value: true },
      { value: true },
    ]);
  });

  it('lets others have their turn between expressions', async () => {
    let turns = 0;
    const count = (): void => void (turns++, (timer = setImmediate(count)));
    let timer = setImmediate(count);
    await evaluated(Array.from({ length: 60 }, () => DEAR));
    clearImmediate(timer);
    assert.ok(turns > 0);
  });

  describe('lets others have their turn within', () => {
    // Some 900,000 steps: far more than what is done at once, on any machine.
    const LONG = `lists.range(1000).all(i, lists.range(180).all(j, i < 1000 && j < 300))`;
    /** The turns of others until something is over; a first one may go by before it begins. */
    const turnsOf = async (work: () => Promise<unknown>): Promise<number> => {
      let turns = 0;
      const count = (): void => void (turns++, (timer = setImmediate(count)));
      let timer = setImmediate(count);
      await work().finally(() => clearImmediate(timer));
      return turns;
    };

    it('an expression', async () => {
      let outcomes: readonly Outcome[] = [];
      const turns = await turnsOf(async () => (outcomes = await evaluated([LONG])));
      assert.deepEqual(outcomes, [{ value: true }]);
      assert.ok(turns > 2, `${turns} turns`);
    });

    it('a variable, which is evaluated once all the same', async () => {
      let outcomes: readonly Outcome[] = [];
      const spec = variables({ long: LONG, twice: 'variables.long && variables.long' });
      const sources = ['variables.twice', '[1, 2].all(i, variables.long)'];
      const turns = await turnsOf(async () => (outcomes = await evaluated(sources, { spec, budget: 1_200_000 })));
      assert.deepEqual(outcomes, [{ value: true }, { value: true }]);
      assert.ok(turns > 2, `${turns} turns`);
    });

    it('an expression that nobody waits for any more: it ends', async () => {
      const { compile } = compileCommon(POLICY, {});
      const gone = new AbortController();
      const evaluation = new Evaluation({}, { budget: 10 * POLICY_BUDGET, pace: new Pace(gone) });
      const evaluating = (async () => {
        for (let i = 0; i < 100; i++) await evaluation.evaluate(compile(LONG, ANYTHING));
      })();
      gone.abort(new Error('the client has gone'));
      await assert.rejects(evaluating, /the client has gone/);
    });
  });

  const rights = (decide: (verb: string) => Promise<Decision> | Decision) => {
    const asked: string[] = [];
    let left = 0;
    const request = { user: { name: 'u', uid: '', groups: [], extra: {} }, leaveTurn: () => (left++, undefined) };
    const answers = new AccessAnswers(request, (user, { verb }) => {
      asked.push(`${user.name} ${verb}`);
      return decide(verb);
    });
    return { asked, left: () => left, values: { authorizer: authorizer(answers.ask, {}) } };
  };
  const check = (verb: string): string => `authorizer.path("/").check("${verb}")`;

  it('asks authorizers with the selectors of a question, and each narrower one by itself', async () => {
    const seen: unknown[] = [];
    const decide = (_: unknown, attributes: Attributes): Decision => {
      const { selectors } = attributes as ResourceAttributes;
      seen.push(selectors === undefined ? undefined : { fields: selectors.fields, labels: selectors.labels });
      return { decision: 'allow', reason: '' };
    };
    const answers = new AccessAnswers({ user: { name: 'u', uid: '', groups: [], extra: {} }, leaveTurn: () => undefined }, decide); // prettier-ignore
    const values = { authorizer: authorizer(answers.ask, {}) };
    const pods = `authorizer.group('').resource('pods')`;
    const both = `${pods}.fieldSelector('a=b').labelSelector('!c').check('list').allowed()`;
    const sources = [`${pods}.check('list').allowed()`, both, both];
    assert.deepEqual(await evaluated(sources, { values }), Array(3).fill({ value: true }));
    const fields = [{ key: 'a', operator: 'In', values: ['b'] }];
    assert.deepEqual(seen, [undefined, { fields, labels: [{ key: 'c', operator: 'DoesNotExist' }] }]);
  });

  it('waits for answers of authorizers, and asks each question once', async () => {
    const { asked, left, values } = rights((verb) =>
      Promise.resolve({ decision: verb === 'get' ? 'allow' : 'deny', reason: 'r' }),
    );
    const spec = variables({ get: `${check('get')}.allowed()` });
    const outcomes = await evaluated(
      ['variables.get', `!${check('put')}.allowed() && variables.get`, `${check('put')}.reason() == "r"`],
      { spec, values },
    );
    assert.deepEqual(outcomes, [{ value: true }, { value: true }, { value: true }]);
    assert.deepEqual([asked, left()], [['u get', 'u put'], 2]);
  });

  it('asks for service accounts in their name, and tells of errors', async () => {
    const { asked, left, values } = rights(() => ({ decision: 'noOpinion', reason: '', error: 'away' }));
    const source = 'authorizer.serviceAccount("ns", "sa").path("/").check("get").error() == "away"';
    assert.deepEqual(await evaluated([source], { values }), [{ value: true }]);
    assert.deepEqual([asked, left()], [['system:serviceaccount:ns:sa get'], 0]);
  });

  it('fails with what a question fails with', async () => {
    const { values } = rights(() => Promise.reject(new Error('gone')));
    await assert.rejects(evaluated([`${check('get')}.allowed() || true`], { values }), /gone/);
  });
});

describe('askConditions()', () => {
  const ask = (expressions: readonly string[], failsOpen = false) => {
    const { compile } = compileCommon(POLICY, {});
    return askConditions(
      {
        conditions: expressions.map((it, i) => ({ name: `c${i}`, compiled: compile(it, A_BOOL) })),
        failsOpen,
        about: { name: 'n', kind: 'webhook', type: 'validate', operation: 'CREATE' },
        metrics: new CountedPolicies(),
        pace: new Pace(STAYS),
      },
      () => ({ object: OBJECT }),
    );
  };
  const FAILS = 'object.nothing == 1';
  const error = `expression '${FAILS}' resulted in error: no such key: nothing`;

  it('takes a request that meets all', async () => {
    assert.deepEqual(await ask([]), { matches: true });
    assert.deepEqual(await ask(['object.a == 1', 'true']), { matches: true });
    assert.deepEqual(await ask(['object.a == 1', 'object.a == 2']), { matches: false });
  });

  it('takes no notice of failures beside one that is not met', async () => {
    assert.deepEqual(await ask([FAILS, 'false']), { matches: false });
    assert.deepEqual(await ask(['false', FAILS]), { matches: false });
  });

  it('tells of failures, unless they are to be ignored', async () => {
    assert.deepEqual(await ask([FAILS, 'true', FAILS]), { errors: [error, error] });
    assert.deepEqual(await ask([FAILS, 'true'], true), { matches: false });
  });

  it('has a budget of its own', async () => {
    const matched = await ask(Array.from({ length: 400 }, () => DEAR));
    assert.ok('errors' in matched && /running out of cost budget/.test(matched.errors[0] ?? ''));
  });
});
