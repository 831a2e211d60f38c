import assert from 'node:assert/strict';
import { readSchema, type SchemaJson } from './read-schema.js';
import { compileRule } from './compile-rule.js';
import { done } from '../work/work.js';
import { askRules } from './rules.js';
import type { Structural } from './structural.js';

const rules = (...list: readonly object[]): SchemaJson => ({ 'x-platform-validations': list });
const read = (schema: SchemaJson) => readSchema(schema, (name) => `x-platform-${name}`);
const schemaOf = (spec: SchemaJson) => read({ type: 'object', properties: { spec } });
const SPEC = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    max: { type: 'integer' },
    name: { type: 'string' },
    'a-b': { type: 'string' },
    in: { type: 'boolean' },
    share: { 'x-platform-int-or-string': true },
    at: { type: 'string', format: 'date-time' },
    ratio: { type: 'number' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    ports: {
      type: 'array',
      'x-platform-list-type': 'map',
      'x-platform-list-map-keys': ['n'],
      items: {
        type: 'object',
        properties: { n: { type: 'integer' }, v: { type: 'integer', ...rules({ rule: 'self >= oldSelf' }) } },
      },
    },
  },
};
const told = (spec: object, rule: object, before?: object): string[] =>
  done(
    askRules({ spec }, schemaOf({ ...SPEC, ...rules(rule) }), before === undefined ? undefined : { spec: before }),
  ).map(({ field, message }) => `${field}: ${message}`);

describe('askRules()', () => {
  const held: readonly (readonly [rule: string, spec: object])[] = [
    ['self.size <= self.max', { size: 1, max: 2 }],
    ['self.a__dash__b == "x" && self.__in__', { 'a-b': 'x', in: true }],
    ['self.share == 1 || self.share == "50%"', { share: '50%' }],
    ['type(self.share) == int', { share: 5 }],
    ['self.at < timestamp("2030-01-01T00:00:00Z")', { at: '2024-01-01T00:00:00Z' }],
    ['self.ratio == 1.0', { ratio: 1 }],
    ['self.labels.all(k, k.startsWith("x")) && self.labels["x.y"] == "z"', { labels: { 'x.y': 'z' } }],
    ['self.ports.exists(p, p.n == 2)', { ports: [{ n: 1 }, { n: 2 }] }],
    ['!has(self.name)', {}],
  ];
  for (const [rule, spec] of held) {
    it(`${rule} of ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(told(spec, { rule }), []);
      assert.deepEqual(told(spec, { rule: `!(${rule})` }), [`spec: Invalid value: "object": failed rule: !(${rule})`]);
    });
  }

  it('let nothing through in the place of a rule that cannot be compiled any more', () => {
    const [why = '', ...rest] = told({ size: 1 }, { rule: 'self.nothing' });
    assert.match(why, /^spec: Invalid value: "object": rule compile error: compilation failed: .*nothing/);
    assert.deepEqual(rest, []);
    assert.deepEqual(told({ size: 1 }, { rule: 'self.nothing' }, { size: 1 }), [], 'nothing has changed');
    const broken = { rule: 'false', message: 'plain', messageExpression: 'self.nothing' };
    assert.deepEqual(told({ size: 1 }, broken), ['spec: Invalid value: "object": plain']);
  });

  it('tell what the rule says of it, in its place and for its reason', () => {
    const rule = 'self.size <= self.max';
    const spec = { size: 3, max: 2 };
    assert.deepEqual(told(spec, { rule, message: ' too large ' }), ['spec: Invalid value: "object": too large']);
    assert.deepEqual(
      told(spec, { rule, messageExpression: '"%d is too large".format([self.size])', fieldPath: '.size' }),
      ['spec.size: Invalid value: "object": 3 is too large'],
    );
    assert.deepEqual(told(spec, { rule, message: 'm', messageExpression: 'self.name' }), [
      'spec: Invalid value: "object": m',
    ]);
    assert.deepEqual(told(spec, { rule, message: 'm', reason: 'FieldValueForbidden' }), ['spec: Forbidden: m']);
    assert.deepEqual(told(spec, { rule, message: 'm', reason: 'FieldValueRequired' }), ['spec: Required value: m']);
    assert.deepEqual(told(spec, { rule, reason: 'FieldValueDuplicate' }), ['spec: Duplicate value: "object"']);
  });

  it('ask rules about changes only where there is one', () => {
    const rule = 'self.size >= oldSelf.size';
    assert.deepEqual(told({ size: 1 }, { rule }), []);
    assert.deepEqual(told({ size: 3 }, { rule }, { size: 2 }), []);
    assert.deepEqual(told({ size: 1 }, { rule }, { size: 2 }).length, 1);
    const optional = { rule: 'oldSelf.hasValue() || self.size == 1', optionalOldSelf: true };
    assert.deepEqual(told({ size: 2 }, optional).length, 1);
    assert.deepEqual(told({ size: 2 }, optional, { size: 5 }), []);
  });

  it('tell items of maps apart by their keys', () => {
    const before = {
      ports: [
        { n: 1, v: 5 },
        { n: 2, v: 1 },
      ],
    };
    const after = {
      ports: [
        { n: 2, v: 3 },
        { n: 1, v: 4 },
        { n: 3, v: 0 },
      ],
    };
    const found = done(askRules({ spec: after }, schemaOf(SPEC), { spec: before }));
    assert.deepEqual(
      found.map(({ field, message }) => [field, message]),
      [['spec.ports[1].v', 'Invalid value: 4: failed rule: self >= oldSelf']],
    );
  });

  it('break none where nothing has changed', () => {
    const rule = { rule: 'self.size < 1' };
    assert.deepEqual(told({ size: 3 }, rule, { size: 3 }), []);
    assert.equal(told({ size: 3 }, rule, { size: 4 }).length, 1);
  });

  it('tell of failures, and end what costs too much', () => {
    assert.deepEqual(told({}, { rule: 'self.size > 1' }), [
      'spec: Invalid value: "object": no such key: size evaluating rule: self.size > 1',
    ]);
    const long = 'lists.range(10000).all(a, lists.range(10000).all(b, a + b >= 0))';
    assert.match(told({}, { rule: long })[0] ?? '', /call cost exceeds limit/);
  });

  it('see the name of the whole object, and nothing else of its metadata', () => {
    const root = read({ type: 'object', ...rules({ rule: 'self.metadata.name == "x"' }) });
    assert.deepEqual(done(askRules({ kind: 'A', metadata: { name: 'x' } }, root)), []);
    assert.equal(done(askRules({ metadata: { name: 'y' } }, root))[0]?.field, '<nil>');
    assert.ok('why' in compileRule({ rule: 'self.metadata.labels.a == "b"' }, root, true));
  });
});

describe('the parts of askRules()', () => {
  const list = (rule: Record<string, unknown>): Structural =>
    read({
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'integer', ...rules(rule) } } },
    });
  /** How often others may have their turn, and what is found in the end. */
  const parts = (object: unknown, schema: Structural): { count: number; found: readonly string[] } => {
    const work = askRules(object, schema);
    for (let count = 0; ; count++) {
      const part = work.next();
      if (part.done === true) return { count, found: part.value.map(({ field, message }) => `${field}: ${message}`) };
    }
  };

  it('end after each rule', () => {
    const { count, found } = parts({ list: [1, 2, -1] }, list({ rule: 'self > 0' }));
    assert.deepEqual([count, found], [3, ['list[2]: Invalid value: -1: failed rule: self > 0']]);
  });

  it('end within rules that take long, and within the making of their messages', () => {
    const long = 'lists.range(self).all(i, i >= 0)';
    const one = parts({ list: [30_000] }, list({ rule: long }));
    assert.deepEqual(one.found, []);
    assert.ok(one.count > 10, `${one.count} parts`);
    const told = parts({ list: [30_000] }, list({ rule: 'self < 0', messageExpression: `${long} ? "told" : ""` }));
    assert.deepEqual(told.found, ['list[0]: Invalid value: 30000: told']);
    assert.ok(told.count > 10, `${told.count} parts`);
  });

  it('are not gone on with when the budget of a rule is spent', () => {
    const { found } = parts({ list: [100_000, 1] }, list({ rule: `lists.range(self).all(i, i + i + i + i + i + i + i + i + i + i < 0 || true)` })); // prettier-ignore
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', /call cost exceeds limit/);
  });
});

describe('compileRule()', () => {
  const why = (rule: object): string => {
    const made = compileRule({ rule: 'true', ...rule }, schemaOf(SPEC).properties.get('spec') ?? schemaOf(SPEC), false);
    return 'why' in made ? `${made.member}: ${made.why}` : '';
  };

  it('tells what is wrong with a rule', () => {
    assert.equal(why({}), '');
    assert.match(
      why({ rule: 'self.nope == 1' }),
      /^rule: compilation failed: ERROR: <input>:1:5: undefined field 'nope'/,
    );
    assert.match(why({ rule: 'self.size' }), /^rule: cel expression must evaluate to a bool$/);
    assert.match(why({ rule: '1 +' }), /^rule: compilation failed: /);
    assert.match(
      why({ messageExpression: 'self.size' }),
      /^messageExpression: messageExpression must evaluate to a string$/,
    );
    assert.match(why({ messageExpression: 'nope' }), /^messageExpression: messageExpression compilation failed: /);
  });
});
