import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { readSchema } from './read-schema.js';
import { checkRule } from './compile-rule.js';
import { costOfRule, type RuleCost } from './rule-costs.js';
import { mostOften } from './schema-sizes.js';
import type { Rule } from './structural.js';

const read = (schema: object) => readSchema(schema as Record<string, unknown>, (name) => `x-kubernetes-${name}`);

const text = { type: 'string' };
const SPEC = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer' },
    max: { type: 'integer' },
    name: text,
    short: { type: 'string', maxLength: 63 },
    en: { type: 'string', enum: ['Abc', 'Defghi'] },
    'a-b': text,
    flag: { type: 'boolean' },
    share: { 'x-kubernetes-int-or-string': true },
    at: { type: 'string', format: 'date-time' },
    dur: { type: 'string', format: 'duration' },
    by: { type: 'string', format: 'byte' },
    ratio: { type: 'number' },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 10 }, maxProperties: 5 },
    any: { type: 'object', additionalProperties: text },
    ports: {
      type: 'array',
      maxItems: 10,
      items: {
        type: 'object',
        properties: {
          n: { type: 'integer' },
          v: { type: 'string', maxLength: 20 },
          tags: { type: 'array', items: text },
        },
      },
    },
    strs: { type: 'array', items: text },
    few: { type: 'array', maxItems: 7, items: { type: 'string', maxLength: 9 } },
    nums: { type: 'array', maxItems: 30, items: { type: 'integer' } },
    ips: { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 45 } },
  },
};

/** What a server of reference, of Kubernetes 1.36, estimates for each. */
const COSTS: readonly (readonly [rule: string, cost: number])[] = [
  ['self.size <= self.max', 5],
  ['self.name == "x"', 3],
  ['self.name != self.short', 30],
  ['self.name.size() > 3 && self.short.size() < 4', 8],
  ['size(self.name) > 3 || has(self.max)', 5],
  ['!has(self.name)', 2],
  ['self.a__dash__b.startsWith("x")', 3],
  ['self.short.endsWith(self.name)', 314_577],
  ['self.name.contains("abc")', 314_575],
  ['self.short.contains(self.name)', 8_178_902],
  ['self.short.matches("^[a-z]+$")', 54],
  ['self.name.matches(self.short)', 19_818_103],
  ['self.ports.all(p, p.n > 3)', 63],
  ['self.ports.all(p, p.v.startsWith("x") || p.n == 2)', 83],
  ['self.ports.exists(p, p.v == "x")', 73],
  ['self.ports.exists_one(p, p.v == "x" && p.n > 3)', 84],
  ['self.ports.map(p, p.v).all(v, v.size() > 3)', 214],
  ['self.ports.map(p, p.n > 1, p.v).exists(v, v == "s")', 234],
  ['self.ports.filter(p, p.n > 1).all(q, q.v == "aaa")', 234],
  ['self.ports.filter(p, p.n > 1).size() < 3', 175],
  ['self.ports.all(p, self.ports.exists(q, q.n == p.n && q.v == p.v))', 2_063],
  ['self.ports.all(p, p.tags.all(t, t.size() < 4))', 62_914_563],
  ['self.labels.all(k, k.startsWith("a"))', 28],
  ['self.labels.all(k, self.labels[k].startsWith("a"))', 43],
  ['self.labels["x"] == "y"', 4],
  ['self.any.all(k, self.any[k] == "v")', 3_145_723],
  ['self.any.size() < 3 && "x" in self.any', 7],
  ['"x" in self.strs', 1_048_577],
  ['self.short in self.few', 11],
  ['self.en in ["Abc", "D"]', 14],
  ['self.en == "Abc" ? has(self.name) : !has(self.name)', 5],
  ['(self.en == "Abc" ? self.name : self.short).size() < 5', 7],
  ['self.few.map(x, x + "abc").join(",").size() < 100', 1_844_674_407_370_955_500],
  ['self.few.join() == "x"', 29],
  ['self.nums.sum() == 10', 33],
  ['self.nums.isSorted()', 32],
  ['self.few.isSorted()', 37],
  ['self.few.max() == "z"', 38],
  ['self.few.indexOf("x") == 3', 38],
  ['self.name.indexOf("x") > 3', 314_576],
  ['self.name.lowerAscii() == "x"', 314_576],
  ['self.short.replace("a", "bbb").size() < 30', 55],
  ['self.short.replace("abc", "b").size() < 30', 55],
  ['self.short.replace("", "b").contains("x")', 104],
  ['self.short.split(",").all(x, x.size() < 3)', 1_566],
  ['self.short.split(",", 3).all(x, x.startsWith("c"))', 69],
  ['self.short.substring(1, 3) == "ab"', 29],
  ['self.short.trim().upperAscii() == "X"', 55],
  ['self.short.find("[0-9]+") == "1"', 55],
  ['self.short.findAll("[0-9]+").all(x, int(x) < 4)', 1_567],
  ['self.short.findAll("[0-9]+", 2).size() == 1', 56],
  ['type(self.share) == int ? self.share > 3 : self.share.endsWith("%")', 7],
  ['self.at > timestamp("2020-01-01T00:00:00Z")', 4],
  ['self.dur < duration("1h")', 4],
  ['self.at + self.dur > self.at', 8],
  ['self.by == b"abc"', 3],
  ['string(self.by).size() > 3', 314_577],
  ['bytes(self.short).size() > 3', 30],
  ['self.ratio * 2.0 > 1.0', 4],
  ['self.flag && !self.flag', 5],
  ['self.?name.orValue("x") == "y"', 4],
  ['self.?name.hasValue()', 3],
  ['self.?name.optMap(n, n.size() > 3).orValue(true)', 21],
  ['self.?labels[?"x"].orValue("y") == "z"', 5],
  ['self.ports[?0].optMap(p, p.n).orValue(3) == 3', 23],
  ['has(self.labels) && has(self.labels.x)', 3],
  ['self.labels.x == "abc"', 4],
  ['url(self.name).getHost() == "x"', 314_577],
  ['isURL(self.name) && url(self.short).getScheme() == "http"', 33],
  ['isIP(self.short) && ip(self.short).family() == 4', 58],
  ['self.ips.all(i, isIP(i) && ip.isCanonical(i))', 180],
  ['self.ips.all(i, cidr("10.0.0.0/8").containsIP(i))', 84],
  ['self.ips.all(i, cidr("10.0.0.0/8").containsCIDR(i) && cidr(i).ip() == ip("1.1.1.1"))', 159],
  ['self.ips.all(i, cidr("10.0.0.0/8").containsIP(ip(i)) && cidr(i).masked() == cidr(i))', 204],
  ['quantity(self.short).isLessThan(quantity("1Gi"))', 30],
  ['isQuantity(self.name) && quantity(self.name) == quantity("1")', 629_152],
  ['quantity(self.short).add(quantity("1")).sub(3).asInteger() > 3', 33],
  ['semver(self.short).isGreaterThan(semver("1.0.0")) && isSemver(self.name)', 314_605],
  ['semver(self.short) == semver("1.2.3")', 30],
  ['sets.contains(self.few, ["a"])', 20],
  ['sets.intersects(self.few, self.strs)', 7_340_030],
  ['sets.equivalent(self.few, self.few)', 103],
  ['self.few.distinct().size() == self.few.size()', 116],
  ['self.few.reverse() == self.few', 23],
  ['self.nums.sort() == self.nums', 1_818],
  ['self.few.sort()[0] == "a"', 117],
  ['self.few.slice(0, 2) == ["a"]', 26],
  ['[[1, 2], [3]].flatten() == [1, 2, 3]', 54],
  ['lists.range(5).all(i, i < 3)', 42],
  ['self.ports.sortBy(p, p.n)[0].n == 3', 379],
  ['self.ports.all(i, p, p.n == i)', 63],
  ['self.labels.all(k, v, v.startsWith(k))', 28],
  ['self.labels.exists(k, v, v == "x")', 33],
  ['self.labels.existsOne(k, v, v == "x")', 24],
  ['self.ports.transformList(i, p, p.v).all(v, v == "x")', 194],
  ['self.ports.transformList(i, p, i > 2, p.v).size() < 3', 175],
  ['self.labels.transformMap(k, v, v + "x").all(k, k == "y")', 99],
  ['self.labels.transformMap(k, v, v == "y", v.size()).size() == 2', 70],
  ['self.labels.transformMapEntry(k, v, {v: k}).size() == 2', 205],
  ['self.ports.transformMapEntry(i, p, p.n > 3, {p.v: p.n}).all(k, k.size() > 2)', 484],
  ['"%s is %d".format([self.name, self.size]) == "x"', 16],
  ['self.name + self.short == "x"', 314_603],
  ['self.few + self.strs == ["x"]', 16],
  ['[self.name, self.short].all(x, x.size() < 3)', 27],
  ['[1, 2, 3].all(x, x < self.size)', 32],
  ['{"a": self.name}["a"] == "x"', 34],
  ['{"a": 1, "b": 2}.all(k, k == "a")', 39],
  ['[self.few, self.strs].all(l, l.size() > 2)', 27],
  ['self.ports == oldSelf.ports', 5],
  ['self.ports.all(p, oldSelf.ports.exists(o, o == p))', 663],
  ['self == oldSelf', 2],
  ['self.name < self.short', 30],
  ['self.few[0] == "x"', 4],
  ['self.few[0].startsWith(self.few[1])', 10],
  ['dyn(self.name) == "x"', 4],
  ['dyn(self.few).all(x, x == "a")', 32],
  ['int(self.short) > 3 && string(self.size) == "3" && double(self.short) > 2.0', 12],
  ['self.at.getFullYear() > 3 && self.dur.getHours() < 3', 8],
  ['self.nums.all(a, self.nums.all(b, self.nums.all(c, a + b > c)))', 221_583],
  ['self.strs.all(a, self.strs.all(b, a == b))', 345_881_509_131_242_700],
  ['optional.of(self.name).hasValue() && optional.none().orValue("x") == "x"', 7],
  ['optional.ofNonZeroValue(self.name).or(self.?short).hasValue()', 7],
  ['[?self.?name, self.short].size() > 1', 16],
  ['{?"a": self.?name}.size() == 0', 34],
  ['format.dns1123Label().validate(self.name).hasValue()', 10_066_340],
  ['!format.named("dns1123Label").value().validate(self.short).hasValue()', 838],
  ['format.named("uuid").hasValue()', 2],
  ['format.uri() == format.uuid()', 9],
  ['self.few.first().orValue("x") == "y"', 5],
  ['self.few.last().value() == "y"', 5],
  ['self.ports.map(p, p.tags).all(t, t.exists(x, x == "y"))', 204],
  ['self.ports.map(p, [p.n, 3]).all(t, t.exists(x, x == 3))', 304],
  ['self.name.charAt(3) == "x"', 4],
  ['self.few.lastIndexOf("x") > 1', 38],
  ['self.at == null', 3],
  ['self.size < 3.5', 3],
  ['strings.quote(self.short) == "x"', 29],
  ['int(self.size) > 3 && uint(self.size) > 3u', 8],
  ['self.flag == false', 2],
  ['type(self.few) == list && type(self.labels) == map && type(self.size) == int', 12],
  ['self.nums.exists(n, n == self.size) ? self.few.size() > 3 : self.strs.all(x, x == "b")', 5_243_091],
  ['self.few.map(x, x.size()).sum() > 3', 119],
  ['self.few.map(x, x).map(y, y + y).exists(z, z.contains("c"))', 249],
  ['self.ports.map(p, {"a": p.v}).all(m, m.a.size() > 3)', 524],
  ['self.ports.map(p, {"a": p.v}).all(m, m["a"].startsWith("x"))', 514],
  ['(self.few + ["a"]).all(x, x.startsWith("abc"))', 54],
  ['(self.flag ? self.few : self.strs).all(x, x == "b")', 4_194_305],
  ['(self.flag ? ["x"] : ["yyyy"]).all(x, x.contains("b"))', 17],
];

const list = (items: object, most?: number): object => ({ type: 'array', items, maxItems: most });
const map = (values: object, most?: number): object => ({
  type: 'object',
  additionalProperties: values,
  maxProperties: most,
});
const number = { type: 'number' };
const formatted = (format: string): object => ({ type: 'string', format });
const object = {
  type: 'object',
  required: ['required'],
  properties: { required: text, optional: text },
};
const either = { 'x-kubernetes-int-or-string': true };

/** What the tests of the reference implementation say: the rule is one of each schema, without bounds and with one. */
const BY_SCHEMA: readonly (readonly [schema: object, rule: string, cost: number])[] = [
  [list(number), 'self.all(x, true)', 4_718_591],
  [list(number, 10), 'self.all(x, true)', 32],
  [list(text), 'self.all(x, true)', 3_145_727],
  [list({ type: 'boolean' }), 'self.all(x, true)', 1_887_437],
  [list(list(number)), 'self.all(x, true)', 3_145_727],
  [list(object), 'self.all(x, true)', 555_128],
  [list(either), 'self.all(x, true)', 4_718_591],
  [list(formatted('duration')), 'self.all(x, true)', 2_359_295],
  [list(formatted('date')), 'self.all(x, true)', 725_936],
  [list(formatted('date-time')), 'self.all(x, true)', 428_963],
  [list(text), 'self[1] == self[1]', 314_577],
  [list(number), 'self.all(x, x == 0.0)', 6_291_454],
  [list(number, 6_291_456), 'self.all(x, x == 0.0)', 25_165_826],
  [list(map(object, 10), 10), 'self.all(x, x["y"].required == "z")', 72],
  [list(map(object)), 'self.all(x, x["y"].required == "z")', 7_340_027],
  [map(number), 'self.all(x, true)', 1_348_169],
  [map(number, 10), 'self.all(x, true)', 32],
  [map(text), 'self.all(x, true)', 1_179_647],
  [map({ type: 'boolean' }), 'self.all(x, true)', 943_718],
  [map(object), 'self.all(x, true)', 428_963],
  [map(map(number)), 'self.all(x, true)', 1_179_647],
  [map(formatted('date')), 'self.all(x, true)', 524_288],
  [map(formatted('date-time')), 'self.all(x, true)', 349_526],
  [map({ type: 'string', maxLength: 10 }, 10), 'self.all(x, x.contains(self[x]))', 72],
  [text, "self.contains('test')", 314_574],
  [{ type: 'string', maxLength: 10 }, "self.contains('test')", 5],
  [text, 'size(self + "hello") > size("hello")', 314_578],
  [text, 'self.matches("x")', 314_574],
  [{ type: 'string', maxLength: 50 }, 'self.matches("x")', 22],
  [{ type: 'string', maxLength: 0 }, 'self == "x"', 1],
];

describe('costOfRule()', () => {
  const costs = (schema: object, rule: Rule, isRoot = false): RuleCost => {
    const known = read(schema);
    const made = checkRule(rule, known, isRoot);
    assert.ok('rule' in made);
    return costOfRule(made.rule, known, isRoot);
  };
  const cost = (schema: object, rule: string): number => costs(schema, { rule }).rule;

  for (const [rule, wanted] of COSTS) it(rule, () => assert.equal(cost(SPEC, rule), wanted));

  for (const [schema, rule, wanted] of BY_SCHEMA)
    it(`${rule} of ${JSON.stringify(schema)}`, () => assert.equal(cost(schema, rule), wanted));

  it('knows the members of whole objects', () => {
    const root = costs({ type: 'object' }, { rule: 'self.kind == self.metadata.name' }, true);
    assert.equal(root.rule, 314_578);
  });

  it('tells what a message costs', () => {
    assert.deepEqual(costs(SPEC, { rule: 'true', messageExpression: 'self.name + "x"' }), {
      rule: 0,
      message: 314_575,
    });
  });
});

describe('mostOften()', () => {
  it('is what a request has room for', () => {
    const often = (schema: object): number => mostOften(read(schema), false);
    assert.deepEqual(
      [often(number), often(text), often(object), often(formatted('date-time'))],
      [1_572_864, 1_048_576, 185_042, 142_987],
    );
  });
});
