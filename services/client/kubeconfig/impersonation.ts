import type { UserEntry } from './config.js';

/** Headers by which a client impersonates a user; none when the user entry does not say so. */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;

const TOKEN_CHARACTER = /[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu;

/**
 * @throws {ClientConfigError} For groups, uid or extra attributes without a user, and for what no header can hold:
 * another name would arrive, or none, and the client would act as itself.
 */
export function impersonationHeaders(user: UserEntry): ImpersonationHeaders {
  const { as, asUid, asGroups, asExtra } = user;
  if (as === '') {
    const others = asUid !== '' || asGroups.length > 0 || asExtra.size > 0;
    return others ? user.member.at('as').fail('is required where as-uid, as-groups or as-user-extra is set') : {};
  }
  const held =
    (name: string) =>
    (value: string): string =>
      headerValue(value) ?? user.member.at(name).fail(NO_HEADER);
  const extra = [...asExtra].map(([key, values]) => [
    `impersonate-extra-${escapedKey(key)}`,
    values.map(held('as-user-extra')),
  ]);
  return {
    'impersonate-user': held('as')(as),
    ...(asUid === '' ? {} : { 'impersonate-uid': held('as-uid')(asUid) }),
    ...(asGroups.length === 0 ? {} : { 'impersonate-group': asGroups.map(held('as-groups')) }),
    ...(Object.fromEntries(extra) as Record<string, readonly string[]>),
  };
}

const NO_HEADER = 'holds what no header can: control characters, or white space around it';
const UNHELD = /[\x00-\x1f\x7f]|^ | $/;

/** In UTF-8, of which Node writes each character as a byte. */
const headerValue = (text: string): string | undefined =>
  UNHELD.test(text) ? undefined : Buffer.from(text).toString('latin1');

/** Percent encoding of what a header's name cannot hold, and of the percent sign. */
const escapedKey = (key: string): string => key.replace(TOKEN_CHARACTER, (character) => percentEncoded(character));

const percentEncoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
