import assert from 'node:assert/strict';
import {
  type TextRule,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  nameRule,
  pathSegment,
  qualifiedName,
} from './metadata.js';
import { processorMs } from '../testing/processor-time.js';

const a = (n: number): string => 'a'.repeat(n);
const CASES: readonly { name: string; rule: TextRule; good: readonly string[]; bad: readonly string[] }[] = [
  {
    name: 'dns1123Label',
    rule: dns1123Label,
    good: ['a', '0', 'a-b', 'a--b', a(63)],
    bad: ['', '-a', 'a-', 'A', 'a.b', 'a\n', 'ä', a(64)],
  },
  {
    name: 'dns1123Subdomain',
    rule: dns1123Subdomain,
    good: ['a', 'a.b-c.0', a(253)],
    bad: ['', '.a', 'a.', 'a..b', 'a.-b', 'A', 'a_b', 'a/b', a(254)],
  },
  { name: 'dns1035Label', rule: dns1035Label, good: ['a', 'a-0'], bad: ['', '0a', 'a.b', 'a-', a(64)] },
  { name: 'labelValue', rule: labelValue, good: ['', 'A', 'a_b.c-0', a(63)], bad: ['-', 'a.', 'a b', 'a/b', a(64)] },
  {
    name: 'qualifiedName',
    rule: qualifiedName,
    good: ['a', 'A_b.c', 'x.io/a', `${a(253)}/${a(63)}`, 'constructor'],
    bad: ['', '/', '/a', 'x.io/', 'a/b/c', 'X/a', '__proto__', 'a b', a(64), `${a(254)}/a`],
  },
  { name: 'pathSegment', rule: pathSegment, good: ['a', 'A:b', '...', 'ä'], bad: ['.', '..', 'a/b', 'a%b'] },
];

for (const { name, rule, good, bad } of CASES) {
  describe(`${name}()`, () => {
    for (const text of good) it(`takes ${text.slice(0, 20)} of ${text.length}`, () => assert.deepEqual(rule(text), []));
    for (const text of bad) {
      it(`refuses ${JSON.stringify(text.slice(0, 20))} of ${text.length}`, () => assert.notDeepEqual(rule(text), []));
    }
    it('takes linear time', () => {
      const hostile = [`${a(3_000_000)}-`, `${'a-'.repeat(1_500_000)}_`, 'a.'.repeat(1_500_000)];
      const tookMs = processorMs(() => hostile.forEach((text) => rule(text)));
      assert.ok(tookMs < 4_000);
    });
  });
}

describe('messages of name rules', () => {
  it('are those that clients know', () => {
    assert.deepEqual(dns1123Subdomain('A'), [
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
    assert.deepEqual(dns1123Label('A'), [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
    assert.deepEqual(dns1123Label(a(64)), ['must be no more than 63 characters']);
    assert.deepEqual(qualifiedName('x.io/').slice(0, 1), ['name part must be non-empty']);
    assert.deepEqual(pathSegment('a/b%'), ["may not contain '/'", "may not contain '%'"]);
  });
});

describe('nameRule()', () => {
  it('lets a prefix end in a dash', () => {
    const rule = nameRule('dns1123-label');
    assert.deepEqual(rule.prefix('web-'), []);
    assert.notDeepEqual(rule.name('web-'), []);
    assert.notDeepEqual(rule.prefix('-'), []);
    assert.notDeepEqual(rule.prefix('-web'), []);
  });

  it('lets a prefix of a path segment be a dot', () => {
    assert.deepEqual(nameRule('path-segment').prefix('.'), []);
  });
});
