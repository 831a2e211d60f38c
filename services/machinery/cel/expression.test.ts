import assert from 'node:assert/strict';
import { CelTypeError } from './check.js';
import { expression } from './expression.js';
import { CelSyntaxError } from './lexer.js';
import { shown } from './libraries/texts.js';
import { BOOL, DYN, INT, listOf, mapOf, STRING, typeText, type CelType } from './types.js';
import { BudgetError, CelError, CelMap, type Value } from './values.js';

const BUDGET = 1_000_000;
const PORT: CelType = {
  kind: 'object',
  name: 'Port',
  fields: () =>
    new Map<string, CelType>([
      ['port', INT],
      ['name', STRING],
    ]),
};
const VARIABLES = new Map<string, CelType>([
  [
    'self',
    {
      kind: 'object',
      name: 'Self',
      fields: () =>
        new Map<string, CelType>([
          ['size', INT],
          ['name', STRING],
          ['ports', listOf(PORT)],
          ['labels', mapOf(STRING, STRING)],
          ['free', DYN],
        ]),
    },
  ],
  ['x', INT],
  ['flag', BOOL],
  ['any', DYN],
]);
const object = (members: Readonly<Record<string, Value>>): CelMap => CelMap.of(Object.entries(members));
const SELF = object({
  size: 3n,
  name: 'web',
  ports: [object({ port: 80n, name: 'http' }), object({ port: 443n })],
  labels: object({ a: 'b', 'c.d': 'e' }),
  free: object({ list: [1n, 2.5, 'x', null] }),
});

const evaluated = (source: string, budget = BUDGET): Value =>
  expression(source, VARIABLES).evaluate({ self: SELF, x: 7n, flag: true, any: 1n }, budget).value;

describe('expression()', () => {
  /** Expressions that are true, by what they are about. */
  const TRUE: Readonly<Record<string, readonly string[]>> = {
    'literals and operators': [
      '1 + 2 * 3 == 7',
      '(1 + 2) * 3 == 9',
      '-7 / 2 == -3',
      '-7 % 2 == -1',
      '7u - 2u == 5u',
      '0x1F == 31',
      '1.5e3 == 1500.0',
      '.5 == 0.5',
      'dyn(1) == 1.0',
      'dyn(1u) == 1',
      '2 > 1.5',
      '!false',
      '!!true',
      '- -1 == 1',
      '"a" + "b" == "ab"',
      'b"ab" == bytes("ab")',
      'r"\\n" == "\\\\n"',
      '"\\u00e9" == "é"',
      '"\\x41\\101" == "AA"',
      '"""a\nb""" == "a\\nb"',
      '-9223372036854775808 < 0',
      'true ? true : false',
      '[1, 2] + [3] == [1, 2, 3]',
      '{"a": 1}["a"] == 1',
      '{"a": 1}.a == 1',
      '2 in [1, 2]',
      '"a" in {"a": 1}',
      '!("b" in {"a": 1})',
      '"a" < "b" && "Z" < "a"',
      'null == null',
      'dyn(1) != "1"',
      '"\u{1f600}".size() == 1',
      '"b" > "a" // and that is all',
    ],
    'errors that something makes up for': [
      'true || 1 / 0 == 1',
      '1 / 0 == 1 || true',
      '!(false && 1 / 0 == 1)',
      '[1, 0].exists(i, 2 / i == 2)',
      '![1, 0].all(i, 2 / i == 1)',
    ],
    'members and macros': [
      'self.size == 3',
      'has(self.name)',
      '!has(self.ports[1].name)',
      'self.labels["c.d"] == "e"',
      'self.labels.a == "b"',
      'has(self.labels.a) && !has(self.labels.z)',
      'self.ports.all(p, p.port > 0)',
      'self.ports.exists(p, has(p.name) && p.name == "http")',
      'self.ports.exists_one(p, p.port == 80)',
      'self.ports.map(p, p.port) == [80, 443]',
      'self.ports.map(p, p.port > 100, p.port) == [443]',
      'self.ports.filter(p, p.port < 100).size() == 1',
      'self.labels.all(k, k != "z")',
      'self.labels.exists(k, v, v == "e")',
      '[5, 6].all(i, v, v - i == 5)',
      '[1, 2].transformList(i, v, i + v) == [1, 3]',
      '{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}',
      '[1, 2, 3].transformList(i, v, v > 1, v) == [2, 3]',
      'cel.bind(y, x + 1, y * y) == 64',
      'self.free.list[1] == 2.5',
      'self.free.list.size() == 4',
      'type(x) == int',
      'type(self.name) == string',
      'type([]) == list',
    ],
    'optional values': [
      'self.?name.orValue("z") == "web"',
      '!self.labels[?"z"].hasValue()',
      'self.ports[?7].orValue({"port": 1}).port == 1',
      'optional.none().or(optional.of(2)).value() == 2',
      'self.ports[1].?name.optMap(n, n + "!").orValue("none") == "none"',
      'self.?name.optMap(n, n + "!").value() == "web!"',
      'self.?name.optFlatMap(n, optional.of(n.size())).value() == 3',
      '[?self.ports[1].?name, ?self.?name] == ["web"]',
      '{?"n": self.ports[1].?name} == {}',
      'optional.ofNonZeroValue("").hasValue() == false',
    ],
    conversions: [
      'int("12") == 12 && int(1.9) == 1 && int(3u) == 3',
      'double("1.5") == 1.5 && double(2) == 2.0',
      'string(1.0) == "1" && string(true) == "true" && string(b"a") == "a"',
      'uint(3) == 3u',
      'bool("true")',
      'string(duration("1h30m")) == "5400s"',
      'string(timestamp("2024-01-02T03:04:05.5+01:00")) == "2024-01-02T02:04:05.5Z"',
    ],
    texts: [
      '"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c")',
      '"abc".matches("^a.c$") && !"abc".matches("^b")',
      'matches("abc", "b")',
      '"hello".charAt(1) == "e"',
      '"hello".indexOf("l") == 2 && "hello".lastIndexOf("l") == 3 && "hello".indexOf("l", 3) == 3 && "x".indexOf("y") == -1',
      '"hello".substring(1, 3) == "el" && "hello".substring(3) == "lo"',
      '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"]',
      '["a", "b"].join("-") == "a-b" && ["a", "b"].join() == "ab"',
      '"aXbX".replace("X", "-") == "a-b-" && "aXbX".replace("X", "-", 1) == "a-bX"',
      '" a ".trim() == "a" && "Ab".lowerAscii() == "ab" && "Ab".upperAscii() == "AB" && "ab".reverse() == "ba"',
      '"%s is %d and %.2f, %x %b %o %e%%".format(["a", 1, 1.5, 255, 5, 8, 1500.0]) == "a is 1 and 1.50, ff 101 10 1.500000e+03%"',
      '"%s".format([[{"b": 2.0, "a": 1.5}]]) == "[{a: 1.5, b: 2}]"',
      '"a1b22".find("[0-9]+") == "1" && "a1b22".findAll("[0-9]+") == ["1", "22"]',
      'base64.encode(b"ab") == "YWI=" && base64.decode("YWI=") == b"ab"',
      'strings.quote("a\\"b") == "\\"a\\\\\\"b\\""',
    ],
    'lists and numbers': [
      '[1, 2].isSorted() && ![2, 1].isSorted()',
      '[1, 3, 2].max() == 3 && [1, 3, 2].min() == 1 && [1, 2].sum() == 3 && [1.5].sum() == 1.5',
      '[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2',
      '[1, 2, 3].slice(1, 2) == [2]',
      '[[1], [2, 3]].flatten() == [1, 2, 3]',
      '[1, 1, 2].distinct() == [1, 2] && [1, 2].reverse() == [2, 1] && [2, 1].sort() == [1, 2]',
      'lists.range(3) == [0, 1, 2]',
      'sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])',
      'math.greatest(1, 3, 2) == 3 && math.least([2, 1]) == 1 && math.greatest(1, 2.5) == 2.5',
      'math.ceil(1.2) == 2.0 && math.round(-1.5) == -2.0 && math.abs(-1) == 1 && math.sign(-2.0) == -1.0',
    ],
    times: [
      'duration("1h") > duration("5m")',
      'timestamp("2024-01-01T00:00:00Z") + duration("24h") == timestamp("2024-01-02T00:00:00Z")',
      'timestamp("2024-03-01T10:00:00Z").getMonth() == 2',
      'timestamp("2024-03-01T23:30:00Z").getDate("+01:00") == 2',
      'timestamp("2024-07-01T12:00:00Z").getHours("Europe/Berlin") == 14',
      'timestamp("2024-03-03T00:00:00Z").getDayOfWeek() == 0',
      'timestamp("2024-12-31T00:00:00Z").getDayOfYear() == 365',
      'duration("90m").getHours() == 1 && duration("90m").getMinutes() == 90',
    ],
    'addresses and amounts': [
      'isIP("::1") && !isIP("1.2.3") && ip("::1").family() == 6 && ip("127.0.0.1").isLoopback()',
      'ip("2001:db8::0:1") == ip("2001:db8::1") && !ip.isCanonical("2001:DB8::1")',
      'ip("10.0.0.1").isGlobalUnicast() && ip("169.254.1.1").isLinkLocalUnicast() && ip("ff02::1").isLinkLocalMulticast() && ip("0.0.0.0").isUnspecified()',
      'isCIDR("10.0.0.0/8") && cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.1"))',
      'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8") && cidr("::1/64").prefixLength() == 64',
      'cidr("2001:db8:1::1/32").masked() == cidr("2001:db8::/32")',
      'isURL("https://a.b:8080/c?d=e") && url("https://a.b:8080/c?d=e").getHost() == "a.b:8080" && url("https://a.b:8080/c").getPort() == "8080"',
      'url("https://[::1]:80/").getHostname() == "::1" && url("/a?b=c&b=d").getQuery() == {"b": ["c", "d"]} && url("https://a").getEscapedPath() == ""',
      'quantity("1Gi").isGreaterThan(quantity("1G"))',
      'quantity("500m").add(quantity("1500m")) == quantity("2") && quantity("2").sub(1).asInteger() == 1 && !isQuantity("x") && quantity("1.5").compareTo(quantity("1")) == 1',
      'format.dns1123Label().validate("my-name") == optional.none() && format.dns1123Label().validate("My").hasValue()',
      'format.dns1123Subdomain().validate("a.b").hasValue() == false && format.dns1123Subdomain().validate("a..b").hasValue()',
      'format.dns1035Label().validate("1a").value().size() == 1 && !format.dns1035Label().validate("a1").hasValue()',
      'format.dns1123LabelPrefix().validate("a-") == optional.none() && format.dns1123Label().validate("a-").hasValue()',
      '!format.dns1123SubdomainPrefix().validate("a.b-").hasValue() && !format.dns1035LabelPrefix().validate("ab-").hasValue()',
      '!format.qualifiedName().validate("a.b/c").hasValue() && format.qualifiedName().validate("/c").hasValue()',
      '!format.labelValue().validate("a_b").hasValue() && format.labelValue().validate("a/b").hasValue()',
      '!format.uri().validate("https://a.b/c").hasValue() && format.uri().validate("a b").hasValue()',
      'format.uuid().validate("x").value() == ["does not match the UUID format"] && !format.uuid().validate("123e4567-e89b-12d3-a456-426614174000").hasValue()',
      'format.byte().validate("aGk=") == optional.none() && format.byte().validate("aGk").value() == ["invalid base64"]',
      'format.date().validate("2021-02-29").hasValue() && !format.datetime().validate("2021-01-01T00:00:00Z").hasValue()',
      'format.named("date").value() == format.date() && !format.named("dates").hasValue() && format.date() != format.uri()',
      '[3, 1, 2].sortBy(x, -x) == [3, 2, 1] && ["bb", "a"].sortBy(x, x.size()) == ["a", "bb"] && [{"a": 2}, {"a": 1}].sortBy(x, x.a).map(x, x.a) == [1, 2]',
      '[duration("1s"), duration("2s")].sum() == duration("3s") && [1.5, 2.0].sum() == 3.5 && [1u].sum() == 1u && ["b", "a"].sort() == ["a", "b"]',
      'semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0-alpha").isLessThan(semver("1.0.0")) && !isSemver("v1.0.0") && isSemver("v1.0", true) && semver("1.2.3").minor() == 2',
    ],
  };
  for (const [about, sources] of Object.entries(TRUE)) {
    describe(about, () => {
      for (const source of sources) {
        it(source, () => assert.equal(evaluated(source), true));
      }
    });
  }

  describe('that fail when they are evaluated', () => {
    const failing: readonly (readonly [source: string, why: RegExp])[] = [
      ['1 / 0 == 1', /division by zero/],
      ['1 % 0 == 1', /modulus by zero/],
      ['9223372036854775807 + x == 0', /overflow/],
      ['uint(-1) == 1u', /range error/],
      ['self.ports[1].name == "x"', /no such key: name/],
      ['self.ports[2].port == 1', /index out of bounds: 2/],
      ['self.labels["z"] == "x"', /no such key: z/],
      ['self.free.other == 1', /no such key: other/],
      ['any.a == 1', /no such overload/],
      ['any + "a" == "a"', /no such overload: _\+_\(int, string\)/],
      ['"a".matches(dyn("("))', /error parsing regexp/],
      ['timestamp(dyn("x")) == timestamp("2020-01-01T00:00:00Z")', /type conversion error/],
      ['optional.none().value() == 1', /dereference/],
      ['[1, 0].all(i, 2 / i == 2)', /division by zero/],
      ['{"a": 1, "a": 2} == {}', /repeated key/],
      ['"__proto__" in self.labels || self.labels.__proto__ == "x"', /no such key/],
    ];
    for (const [source, why] of failing)
      it(source, () =>
        assert.throws(
          () => evaluated(source),
          (err) => err instanceof CelError && why.test(err.message),
        ),
      );
  });

  it('pay for failures that something makes up for', () => {
    const failing = expression('lists.range(30000).all(i, i / 0 == 1 || true)', new Map());
    assert.throws(() => failing.evaluate({}, 1_000_000), BudgetError);
    assert.equal(
      expression('lists.range(1000).all(i, i / 0 == 1 || true)', new Map()).evaluate({}, 1_000_000).value,
      true,
    );
  });

  describe('whose types do not fit', () => {
    const wrong: readonly (readonly [source: string, why: RegExp])[] = [
      ['self.nope', /undefined field 'nope'\n \| self\.nope\n \| \.\.\.\.\^$/],
      ['nope', /^ERROR: <input>:1:1: undeclared reference to 'nope'/],
      ['nope(1)', /undeclared reference to 'nope'/],
      ['self.size + "a"', /found no matching overload for '_\+_' applied to '\(int, string\)'/],
      ['self.name.contains(1)', /found no matching overload for 'contains' applied to 'string\.\(int\)'/],
      ['self.size.a', /type 'int' does not support field selection/],
      ['[1, "a"].size()', /expected type 'int' but found 'string'/],
      ['self.ports.all(p, p.port)', /expected type 'bool' but found 'int'/],
      ['self.size.all(p, true)', /cannot be range of a comprehension/],
      ['flag ? 1 : "a"', /found no matching overload for '_\?_:_'/],
      ['has(self.nope)', /undefined field 'nope'/],
      ['self.size == "1"', /found no matching overload for '_==_' applied to '\(int, string\)'/],
      ['self.name == null', /found no matching overload for '_==_'/],
      ['self.all(k, k == "a")', /cannot be range of a comprehension/],
      ['self.ports.sortBy(p, p)', /found no matching overload for '@sortByAssociatedKeys'/],
      ['duration("1 hour") == duration("1h")', /<input>:1:10: invalid duration argument/],
      ['timestamp("now") == timestamp("2020-01-01T00:00:00Z")', /<input>:1:11: invalid timestamp argument/],
      ['self.name.matches("(")', /<input>:1:19: invalid matches argument/],
      ['now() == 1', /<input>:1:4: undeclared reference to 'now'/],
      ['self.name.startsWith(1)', /<input>:1:21: found no matching overload for 'startsWith'/],
      ['[1, "a"] == []', /<input>:1:5: expected type 'int'/],
      ['{"a": 1, 2: 1} == {}', /<input>:1:10: expected type 'string' but found 'int'/],
      ['1.all(x, true)', /<input>:1:1: expression of type 'int' cannot be range/],
    ];
    for (const [source, why] of wrong)
      it(source, () =>
        assert.throws(
          () => expression(source, VARIABLES),
          (err) => err instanceof CelTypeError && why.test(err.message),
        ),
      );
  });

  describe('that are none', () => {
    for (const source of [
      '',
      '1 +',
      '(1',
      '[1',
      '{1}',
      'a b',
      '"a',
      "'a\n'",
      '"\\q"',
      '1..2',
      'a.1',
      'for',
      'has(x)',
      '[1].all(1, true)',
      '9223372036854775808',
      '99999999999999999999u',
      'b"\\u0041"',
      '"\\ud800"',
      '@',
      'a.all(b.c, true)',
      `${'('.repeat(500)}1${')'.repeat(500)}`,
      `1${'+1'.repeat(30_000)}`,
      'x'.repeat(200_000),
    ]) {
      it(source.slice(0, 40), () => assert.throws(() => expression(source, VARIABLES), CelSyntaxError));
    }

    for (const [source, message] of [
      ['1 +', 'ERROR: <input>:1:4: Syntax error: unexpected the end\n | 1 +\n | ...^'],
      ['true &&\n  has(self)', 'ERROR: <input>:2:7: invalid argument to has() macro\n |   has(self)\n | ......^'],
      ['"a', 'ERROR: <input>:1:1: Syntax error: a text that does not end\n | "a\n | ^'],
      [`${' '.repeat(3_000)}!`, 'ERROR: <input>:1:3002: Syntax error: unexpected the end'],
    ] as const) {
      it(`are told with their place: ${source.trim()}`, () =>
        assert.throws(() => expression(source, VARIABLES), { message }));
    }
  });

  it('have a type, and tell what they read', () => {
    const found = expression('self.ports.map(p, p.port)', VARIABLES);
    assert.equal(typeText(found.type), 'list(int)');
    assert.ok(found.reads.has('self') && !found.reads.has('x'));
  });

  it('end when they have cost too much, whatever surrounds them', () => {
    const nested = 'lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))';
    assert.throws(() => evaluated(nested), BudgetError);
    assert.throws(() => evaluated(`${nested} || true`), BudgetError);
    assert.throws(() => evaluated(`true && (false || ${nested})`), BudgetError);
  });

  describe('pay for values that are far larger than the expression', () => {
    /** A list of two, each of which is a list of two, and so on: a value that stands in 2^40 places. */
    const doubled = (leaf: string): string =>
      Array.from({ length: 40 }).reduce<string>((inner, _, i) => `cel.bind(v${i}, ${inner}, [v${i}, v${i}])`, leaf);
    const long = `lists.range(20000).map(i, "a").join()`;
    for (const source of [
      `${doubled('[1]')} == ${doubled('[1]')}`,
      `${doubled('[1]')} in [${doubled('[1]')}]`,
      `sets.contains([${doubled('[1]')}], [${doubled('[1]')}])`,
      `"%s".format([${doubled('1')}]) == ""`,
      `${long}.replace("a", ${long}) == ""`,
    ]) {
      it(`${source.slice(0, 30)} ... ${source.slice(-30)}`, () => assert.throws(() => evaluated(source), BudgetError));
    }
  });

  describe('pay for what they look at', () => {
    const LONG = 'lists.range(30).map(i, lists.range(1000).map(j, "xxxxxxxxxx").join()).join()';
    const costs = (source: string): number => 1_000_000 - expression(source, VARIABLES).evaluate({}, 1_000_000).left;
    const more = (with_: string, without: string): number => {
      const bound = (body: string): string => `cel.bind(t, ${LONG}, ${body})`;
      return costs(bound(with_)) - costs(bound(without));
    };
    // A text of 300,000 characters: a tenth of a step for each.
    for (const source of [
      't.size() > 0',
      't < "x"',
      'bytes(t).size() > 0',
      'isURL(t)',
      'isIP(t)',
      'isQuantity(t)',
      'isSemver(t)',
      't.reverse() != ""',
      '[t, t + "a"].isSorted()',
    ]) {
      it(source, () => {
        const cost = more(source, 'true');
        assert.ok(cost >= 30_000 && cost < 200_000, `${cost}`);
      });
    }

    it('also where all that they compare is equal', () => {
      const map = 'lists.range(1000).transformMap(i, v, v)';
      assert.ok(costs(`${map} == ${map}`) - 2 * costs(map) >= 2_000);
      const list = '[lists.range(1000)]';
      assert.ok(costs(`${list} == ${list}`) - 2 * costs(list) >= 1_000);
    });

    it('and for each match, and each part, that they keep', () => {
      const cost = (source: string): number => more(source, 'true');
      assert.throws(() => cost('t.findAll("x").size() > 0'), BudgetError);
      assert.throws(() => cost('t.matches("^[a-z]+$$$$")'), BudgetError);
      assert.ok(cost('t.split("x").size() > 0') >= 600_000);
    });
  });

  it('know the places of code points, from both ends', () => {
    for (const source of [
      '"a𝒳b𝒳".indexOf("b") == 2',
      '"a𝒳b𝒳".indexOf("𝒳", 2) == 3',
      '"a𝒳b𝒳".lastIndexOf("𝒳") == 3',
      '"a𝒳b𝒳".lastIndexOf("𝒳", 2) == 1',
      '"a𝒳b".lastIndexOf("") == 3',
      '"a𝒳b".indexOf("", 3) == 3',
      '"a𝒳b".charAt(1) == "𝒳"',
      '"a𝒳b".charAt(3) == ""',
      '"a𝒳b".substring(1, 2) == "𝒳"',
      '"a𝒳b".substring(2) == "b"',
      '"a𝒳b".reverse() == "b𝒳a"',
      '"a𝒳".size() == 2',
      '"\\uffff" < "𝒳" && "\\ud7ff" < "\\uffff" && "a" < "aa"',
    ]) {
      assert.equal(evaluated(source), true, source);
    }
  });

  it('give back what is left of their budget', () => {
    const { left } = expression('[1, 2, 3].all(i, i > 0)', VARIABLES).evaluate({}, 100);
    assert.ok(left > 0 && left < 100);
  });

  it('show values in texts as others do', () => {
    assert.equal(shown([1n, 1.5, 'a', true, null], { spend: () => undefined }), '[1, 1.5, a, true, null]');
  });
});
