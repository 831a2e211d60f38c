import assert from 'node:assert/strict';
import { FlagError, parseFlags } from '../../machinery/flags/flags.js';
import { AUTHENTICATION_FLAGS } from '../options/authentication.js';
import { checkOidc } from './check-oidc.js';

const check = (...argv: string[]): void => checkOidc(parseFlags(AUTHENTICATION_FLAGS, argv).options);
const BOTH = ['--oidc-issuer-url=https://issuer.example/realm', '--oidc-client-id=us'];

describe('checkOidc()', () => {
  const refused: readonly (readonly [argv: string[], message: RegExp])[] = [
    [['--oidc-issuer-url=https://issuer.example'], /^--oidc-issuer-url and --oidc-client-id go together$/],
    [['--oidc-client-id=us'], /^--oidc-issuer-url and --oidc-client-id go together$/],
    ...[
      '--oidc-ca-file=/ca.crt',
      '--oidc-username-claim=email',
      '--oidc-username-prefix=-',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=g:',
      '--oidc-required-claim=hd=a',
      '--oidc-signing-algs=ES256',
    ].map((argument): [string[], RegExp] => [[argument], new RegExp(`^${argument.split('=')[0] ?? ''} needs --oidc-issuer-url$`)]), // prettier-ignore
    ...[
      ['http://issuer.example', 'is no https URL'],
      ['issuer.example', 'is no https URL'],
      ['https://', 'is no https URL'],
      ['https://jane@issuer.example', 'must not hold a user name or a password'],
      ['https://:x@issuer.example', 'must not hold a user name or a password'],
      ['https://issuer.example?a=b', 'must not have a query or a fragment'],
      ['https://issuer.example/?', 'must not have a query or a fragment'],
      ['https://issuer.example/#', 'must not have a query or a fragment'],
      ['https://issuer.example/#a', 'must not have a query or a fragment'],
    ].map(([url = '', why = '']): [string[], RegExp] => [[`--oidc-issuer-url=${url}`, '--oidc-client-id=us'], new RegExp(`^Cannot parse --oidc-issuer-url: .* ${why}$`)]), // prettier-ignore
    [[...BOTH, '--oidc-username-claim='], /^--oidc-username-claim needs a value$/],
    [[...BOTH, '--oidc-signing-algs='], /^--oidc-signing-algs needs at least one algorithm$/],
    ...['none', 'HS256', 'HS384', 'HS512', 'EdDSA', 'ES256K', 'rs256', 'RSA-OAEP'].map((name): [string[], RegExp] => [
      [...BOTH, `--oidc-signing-algs=RS256,${name}`],
      new RegExp(`^Cannot parse --oidc-signing-algs: "${name}" choose one of RS256, .*, PS512$`),
    ]),
  ];
  for (const [argv, message] of refused) {
    it(`refuses ${argv.join(' ')}`, () => {
      assert.throws(() => check(...argv), (err: unknown) => err instanceof FlagError && message.test(err.message)); // prettier-ignore
    });
  }

  for (const argv of [
    [],
    ['--oidc-username-claim=sub', '--oidc-signing-algs=RS256'],
    BOTH,
    [...BOTH, '--oidc-username-claim=email', '--oidc-username-prefix=-', '--oidc-groups-prefix=g:'],
    [...BOTH, '--oidc-signing-algs=RS256,RS384,RS512,ES256,ES384,ES512,PS256,PS384,PS512'],
  ]) {
    it(`takes ${argv.length === 0 ? 'nothing' : argv.join(' ')}`, () => check(...argv));
  }
});
