import { getOwn } from '../../../machinery/meta/own.js';
import type { UserInfo } from '../../request/request.js';
import { audiencesIn, malformed, timeIn, type Claims, type Times } from '../jwt/claims.js';
import { TokenRefused } from '../token-reviewer.js';

/** Which claims an ID token must have, and how a user is made of them (spec 2, 5.6). */
export interface ClaimRules {
  /** The client that tokens have to be issued for. */
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Put before names of users. */
  readonly usernamePrefix: string;
  /** Empty: tokens say nothing of groups. */
  readonly groupsClaim: string;
  /** Put before names of groups. */
  readonly groupsPrefix: string;
  /** Claims that have to be there, with their texts. */
  readonly required: ReadonlyMap<string, string>;
}

export interface UserFlags {
  readonly oidcIssuerUrl: string;
  readonly oidcClientId: string;
  readonly oidcUsernameClaim: string;
  readonly oidcUsernamePrefix: string;
  readonly oidcGroupsClaim: string;
  readonly oidcGroupsPrefix: string;
  readonly oidcRequiredClaim: ReadonlyMap<string, string>;
}

const EMAIL = 'email';
const NO_PREFIX = '-';

export const claimRules = (o: UserFlags): ClaimRules => ({
  clientId: o.oidcClientId,
  usernameClaim: o.oidcUsernameClaim,
  usernamePrefix: usernamePrefix(o),
  groupsClaim: o.oidcGroupsClaim,
  groupsPrefix: o.oidcGroupsPrefix,
  required: o.oidcRequiredClaim,
});

/** The names that a provider gives are its own; only an address of mail is the same everywhere. */
function usernamePrefix({ oidcIssuerUrl, oidcUsernameClaim, oidcUsernamePrefix }: UserFlags): string {
  if (oidcUsernamePrefix === NO_PREFIX) return '';
  return oidcUsernamePrefix === '' && oidcUsernameClaim !== EMAIL ? `${oidcIssuerUrl}#` : oidcUsernamePrefix;
}

/** When an ID token is good; it always expires. @throws {TokenRefused} */
export function timesOf(claims: Claims): Times {
  const expires = timeIn(claims, 'exp', NaN);
  if (!Number.isFinite(expires)) throw malformed('exp');
  return { expires, notBefore: timeIn(claims, 'nbf', 0) };
}

/**
 * The user of an ID token. Its client has to be among its audiences; which of them it was handed to (azp) is not looked
 * at. Groups that the provider would have to be asked for (OpenID Connect Core, 5.6.2) are groups that the token does
 * not name.
 *
 * @throws {TokenRefused} Naming the claim, never its value.
 */
export function userIn(claims: Claims, rules: ClaimRules): UserInfo {
  if (!audiencesIn(claims).includes(rules.clientId)) throw new TokenRefused('The token is issued for another client');
  for (const [claim, text] of rules.required) {
    if (getOwn(claims, claim) !== text) throw new TokenRefused(`The claim ${claim} is not what it has to be`);
  }
  return { name: nameIn(claims, rules), uid: '', groups: groupsIn(claims, rules), extra: {} };
}

function nameIn(claims: Claims, { usernameClaim, usernamePrefix: prefix }: ClaimRules): string {
  const name = getOwn(claims, usernameClaim);
  if (typeof name !== 'string' || name === '') throw malformed(usernameClaim);
  const verified = usernameClaim === EMAIL ? getOwn(claims, 'email_verified') : undefined;
  if (verified !== undefined && verified !== true) throw new TokenRefused('The email is not verified');
  return prefix + name;
}

/** A list, or a single one. Nothing is no group, rather than one without a name. */
function groupsIn(claims: Claims, { groupsClaim, groupsPrefix }: ClaimRules): string[] {
  if (groupsClaim === '') return [];
  const value = getOwn(claims, groupsClaim) ?? [];
  const listed: unknown = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(listed) || !listed.every((it): it is string => typeof it === 'string')) {
    throw malformed(groupsClaim);
  }
  return listed.filter((group) => group !== '').map((group) => groupsPrefix + group);
}
