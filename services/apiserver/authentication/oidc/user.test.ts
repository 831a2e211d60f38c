import assert from 'node:assert/strict';
import { parseFlags } from '../../../machinery/flags/flags.js';
import { AUTHENTICATION_FLAGS } from '../../options/authentication.js';
import { TokenRefused } from '../token-reviewer.js';
import { claimRules, timesOf, userIn } from './user.js';

const ISSUER = 'https://issuer.example';
const CLAIMS = { iss: ISSUER, aud: 'us', sub: 'jane', exp: 2_000 };

const rulesOf = (...flags: string[]): ReturnType<typeof claimRules> => {
  const argv = [`--oidc-issuer-url=${ISSUER}`, '--oidc-client-id=us', ...flags];
  return claimRules(parseFlags(AUTHENTICATION_FLAGS, argv).options);
};
/** As they come out of a token: a member `__proto__` is an own one. */
const parsed = (claims: object, more = ''): Record<string, unknown> =>
  JSON.parse(JSON.stringify(claims).replace(/}$/, `${more}}`)) as Record<string, unknown>;

describe('userIn()', () => {
  const refused: readonly (readonly [what: string, flags: string[], claims: object, message: RegExp])[] = [
    ['another audience', [], { aud: 'others' }, /another client/],
    ['a list of other audiences', [], { aud: ['others', 'us2'] }, /another client/],
    ['no audience', [], { aud: undefined }, /aud is missing or malformed/],
    ['an audience that is no text', [], { aud: 7 }, /aud is missing or malformed/],
    ['audiences that are not all texts', [], { aud: ['us', 7] }, /aud is missing or malformed/],
    ['an empty list of audiences', [], { aud: [] }, /another client/],
    ['no subject', [], { sub: undefined }, /sub is missing or malformed/],
    ['an empty subject', [], { sub: '' }, /sub is missing or malformed/],
    ['a subject that is a number', [], { sub: 7 }, /sub is missing or malformed/],
    ['a subject that is a list', [], { sub: ['jane'] }, /sub is missing or malformed/],
    ['no claim of the wanted name', ['--oidc-username-claim=name'], {}, /name is missing/],
    ['a name that only a prototype has', ['--oidc-username-claim=constructor'], {}, /constructor is missing/],
    ['an email that is not verified', ['--oidc-username-claim=email'], { email: 'a@b', email_verified: false }, /email is not verified/], // prettier-ignore
    ['an email that is verified in words', ['--oidc-username-claim=email'], { email: 'a@b', email_verified: 'true' }, /not verified/], // prettier-ignore
    ['an email that is verified by null', ['--oidc-username-claim=email'], { email: 'a@b', email_verified: null }, /not verified/], // prettier-ignore
    ['groups that are a number', ['--oidc-groups-claim=groups'], { groups: 7 }, /groups is missing or malformed/],
    ['groups that are an object', ['--oidc-groups-claim=groups'], { groups: { a: 'b' } }, /groups is missing/],
    ['groups that are not all texts', ['--oidc-groups-claim=groups'], { groups: ['a', 7] }, /groups is missing/],
    ['groups in groups', ['--oidc-groups-claim=groups'], { groups: [['a']] }, /groups is missing/],
    ['a required claim that is not there', ['--oidc-required-claim=hd=a'], {}, /hd is not what it has to be/],
    ['a required claim that says something else', ['--oidc-required-claim=hd=a'], { hd: 'b' }, /hd is not/],
    ['a required claim that is a list', ['--oidc-required-claim=hd=a'], { hd: ['a'] }, /hd is not/],
    ['a required claim that is a number', ['--oidc-required-claim=hd=7'], { hd: 7 }, /hd is not/],
    ['one of two required claims', ['--oidc-required-claim=hd=a,to=b'], { hd: 'a' }, /to is not/],
    ['a required claim that only a prototype has', ['--oidc-required-claim=__proto__=a'], {}, /__proto__ is not/],
  ];
  for (const [what, flags, claims, message] of refused) {
    it(`refuses a token with ${what}`, () => {
      assert.throws(
        () => userIn(parsed({ ...CLAIMS, ...claims }), rulesOf(...flags)),
        (err: unknown) => err instanceof TokenRefused && message.test(err.message),
      );
    });
  }

  it('says nothing of what a token holds', () => {
    const claims = parsed({ ...CLAIMS, hd: 'a secret' });
    assert.throws(() => userIn(claims, rulesOf('--oidc-required-claim=hd=a')), (err: Error) => !err.message.includes('secret')); // prettier-ignore
  });

  const taken: readonly (readonly [what: string, flags: string[], claims: object, name: string, groups: string[]])[] = [
    ['the subject, with the issuer before it', [], {}, `${ISSUER}#jane`, []],
    ['the subject alone', ['--oidc-username-prefix=-'], {}, 'jane', []],
    ['the subject with another prefix', ['--oidc-username-prefix=oidc:'], {}, 'oidc:jane', []],
    ['another claim, with the issuer before it', ['--oidc-username-claim=name'], { name: 'J' }, `${ISSUER}#J`, []],
    ['an email alone', ['--oidc-username-claim=email'], { email: 'a@b' }, 'a@b', []],
    ['a verified email', ['--oidc-username-claim=email'], { email: 'a@b', email_verified: true }, 'a@b', []],
    ['an email with a prefix', ['--oidc-username-claim=email', '--oidc-username-prefix=x:'], { email: 'a@b' }, 'x:a@b', []], // prettier-ignore
    ['a subject beside an unverified email', [], { email: 'a@b', email_verified: false }, `${ISSUER}#jane`, []],
    ['no subject, where another claim is the name', ['--oidc-username-claim=name'], { sub: undefined, name: 'J' }, `${ISSUER}#J`, []], // prettier-ignore
    ['groups', ['--oidc-groups-claim=groups'], { groups: ['a', 'b'] }, `${ISSUER}#jane`, ['a', 'b']],
    ['a single group', ['--oidc-groups-claim=role'], { role: 'a' }, `${ISSUER}#jane`, ['a']],
    ['groups with a prefix', ['--oidc-groups-claim=groups', '--oidc-groups-prefix=g:'], { groups: ['a', 'b'] }, `${ISSUER}#jane`, ['g:a', 'g:b']], // prettier-ignore
    ['groups without a name as none', ['--oidc-groups-claim=groups', '--oidc-groups-prefix=g:'], { groups: [''] }, `${ISSUER}#jane`, []], // prettier-ignore
    ['null as no groups', ['--oidc-groups-claim=groups'], { groups: null }, `${ISSUER}#jane`, []],
    ['no groups', ['--oidc-groups-claim=groups'], {}, `${ISSUER}#jane`, []],
    ['groups that nobody wants to know as none', [], { groups: 7 }, `${ISSUER}#jane`, []],
    ['groups that are elsewhere as none', ['--oidc-groups-claim=groups'], { _claim_names: { groups: 'a' }, _claim_sources: { a: { endpoint: 'https://b' } } }, `${ISSUER}#jane`, []], // prettier-ignore
    ['one of several audiences, whoever was handed it', [], { aud: ['others', 'us'], azp: 'others' }, `${ISSUER}#jane`, []], // prettier-ignore
    ['required claims', ['--oidc-required-claim=hd=a', '--oidc-required-claim=to=b'], { hd: 'a', to: 'b' }, `${ISSUER}#jane`, []], // prettier-ignore
  ];
  for (const [what, flags, claims, name, groups] of taken) {
    it(`takes ${what}`, () => {
      const user = userIn(parsed({ ...CLAIMS, ...claims }), rulesOf(...flags));
      assert.deepEqual(user, { name, uid: '', groups, extra: {} });
    });
  }

  it('takes members by any name for nothing but members', () => {
    const claims = parsed(CLAIMS, ',"__proto__":{"groups":["system:masters"],"sub":"root"},"constructor":"x"');
    assert.deepEqual(userIn(claims, rulesOf('--oidc-groups-claim=groups')).groups, []);
    const named = userIn(claims, rulesOf('--oidc-username-claim=constructor', '--oidc-username-prefix=-'));
    assert.equal(named.name, 'x');
    assert.throws(() => userIn(claims, rulesOf('--oidc-username-claim=__proto__')), /__proto__ is missing/);
  });
});

describe('timesOf()', () => {
  for (const [what, claims] of [
    ['no expiry', '{}'],
    ['an expiry that is a text', '{"exp":"2000"}'],
    ['an expiry that is null', '{"exp":null}'],
    ['an expiry at no time', '{"exp":1e999}'],
    ['a beginning that is a text', '{"exp":2000,"nbf":"1"}'],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(() => timesOf(JSON.parse(claims) as Record<string, unknown>), TokenRefused);
    });
  }

  it('takes times with fractions, and no beginning as any', () => {
    assert.deepEqual(timesOf({ exp: 2.5 }), { expires: 2.5, notBefore: 0 });
    assert.deepEqual(timesOf({ exp: 2, nbf: 1.5 }), { expires: 2, notBefore: 1.5 });
  });
});
