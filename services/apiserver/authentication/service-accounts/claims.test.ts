import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TokenRefused } from '../token-reviewer.js';
import { boundClaims, claimsOf, heldClaims, type TokenContent } from './claims.js';
import { boundTo, heldIn, WORDS } from './testing/tokens.js';

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,10}[a-z0-9])?$/);
const PLAIN = { noNullPrototype: true };
const named = fc.record({ name: label, uid: fc.uuid() }, PLAIN);
const content: fc.Arbitrary<TokenContent> = fc.record({
  namespace: label,
  account: named,
  boundTo: fc.option(fc.record({ kind: fc.constantFrom('pod' as const, 'secret' as const), object: named }, PLAIN), {
    nil: undefined,
  }),
  audiences: fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
  seconds: fc.integer({ min: 600, max: 2 ** 32 }),
  warnAfterSeconds: fc.constantFrom(0, 3607),
});

describe('boundClaims()', () => {
  it('reads all that this server writes', () => {
    fc.assert(
      fc.property(content, (c) => {
        const written: unknown = JSON.parse(JSON.stringify(claimsOf(c, 'https://x', WORDS.tokenClaim, 1000)));
        const read = boundClaims(written as Record<string, unknown>, WORDS);
        assert.deepEqual(read, {
          namespace: c.namespace,
          account: c.account,
          boundTo: c.boundTo === undefined ? [] : [c.boundTo],
          heldBy: undefined,
          audiences: c.audiences,
          notBefore: 1000,
          expires: 1000 + c.seconds,
          warnAfter: c.warnAfterSeconds === 0 ? Infinity : 1000 + c.warnAfterSeconds,
        });
      }),
    );
  });
});

for (const [name, read, good] of [
  ['boundClaims()', boundClaims, boundTo({ kind: 'pod', name: 'p' })],
  ['heldClaims()', heldClaims, heldIn()],
] as const) {
  describe(name, () => {
    it('refuses, and fails in no other way, whatever stands in place of a claim', () => {
      const members = Object.keys(good);
      fc.assert(
        fc.property(fc.constantFrom(...members), fc.jsonValue(), (member, value) => {
          try {
            read({ ...good, [member]: value }, WORDS);
          } catch (err) {
            assert.ok(err instanceof TokenRefused, String(err));
          }
        }),
      );
    });

    it('refuses what says nothing, and what says it by a prototype', () => {
      for (const claims of [{}, Object.create(good) as typeof good, JSON.parse('{"__proto__":{}}') as typeof good]) {
        assert.throws(() => read(claims, WORDS), TokenRefused);
      }
    });
  });
}
