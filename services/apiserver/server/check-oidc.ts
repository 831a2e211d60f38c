import { FlagError, type OptionsOf } from '../../machinery/flags/flags.js';
import { AUTHENTICATION_FLAGS as FLAGS } from '../options/authentication.js';

type Options = OptionsOf<typeof FLAGS>;

/** How ID tokens may be signed (RFC 7518, 3.1): with one key of two halves, of which the provider keeps one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

/** The defaults of flags that mean nothing without an issuer. */
const DEPENDENT = [
  ['oidcCaFile', ''],
  ['oidcUsernameClaim', FLAGS.oidcUsernameClaim.default],
  ['oidcUsernamePrefix', ''],
  ['oidcGroupsClaim', ''],
  ['oidcGroupsPrefix', ''],
  ['oidcRequiredClaim', ''],
  ['oidcSigningAlgs', FLAGS.oidcSigningAlgs.default],
] as const satisfies readonly (readonly [keyof Options, string])[];

/** Rules between the flags of the OpenID provider (spec 2, 5.6). @throws {FlagError} */
export function checkOidc(o: Options): void {
  const issuer = flag('oidcIssuerUrl');
  if ((o.oidcIssuerUrl === '') !== (o.oidcClientId === '')) {
    throw new FlagError(`${issuer} and ${flag('oidcClientId')} go together`);
  }
  if (o.oidcIssuerUrl === '') {
    const given = DEPENDENT.find(([key, unset]) => textOf(o[key]) !== unset);
    if (given !== undefined) throw new FlagError(`${flag(given[0])} needs ${issuer}`);
    return;
  }
  checkIssuer(o.oidcIssuerUrl);
  if (o.oidcUsernameClaim === '') throw new FlagError(`${flag('oidcUsernameClaim')} needs a value`);
  checkAlgorithms(o.oidcSigningAlgs);
}

const flag = (key: keyof Options): string => `--${FLAGS[key].flag}`;

const textOf = (value: string | readonly string[] | ReadonlyMap<string, string>): string =>
  typeof value === 'string' ? value : [...value.keys()].length === 0 ? '' : [...value].join(',');

function checkIssuer(text: string): void {
  const wrong = (why: string): FlagError =>
    new FlagError(`Cannot parse ${flag('oidcIssuerUrl')}: ${JSON.stringify(text)} ${why}`);
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') throw wrong('is no https URL');
  const { username, password } = new URL(text);
  if (username !== '' || password !== '') throw wrong('must not hold a user name or a password');
  if (/[?#]/.test(text)) throw wrong('must not have a query or a fragment');
}

function checkAlgorithms(algorithms: readonly string[]): void {
  const name = flag('oidcSigningAlgs');
  if (algorithms.length === 0) throw new FlagError(`${name} needs at least one algorithm`);
  const other = algorithms.find((algorithm) => !ALGORITHMS.includes(algorithm));
  if (other === undefined) return;
  throw new FlagError(`Cannot parse ${name}: ${JSON.stringify(other)} choose one of ${ALGORITHMS.join(', ')}`);
}
