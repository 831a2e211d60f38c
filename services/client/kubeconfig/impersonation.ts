import type { UserEntry } from './config.js';

/** Headers by which a client asks to act as somebody else; none when the user entry does not say so. */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;

const TOKEN_CHARACTER = /[^!#$&'*+\-.^_`|~0-9A-Za-z]/gu;

/** @throws {ClientConfigError} For groups, uid or extra attributes of nobody. */
export function impersonationHeaders(user: UserEntry): ImpersonationHeaders {
  const { as, asUid, asGroups, asExtra } = user;
  if (as === '') {
    const others = asUid !== '' || asGroups.length > 0 || asExtra.size > 0;
    return others ? user.member.at('as').fail('is required where as-uid, as-groups or as-user-extra is set') : {};
  }
  return {
    'impersonate-user': as,
    ...(asUid === '' ? {} : { 'impersonate-uid': asUid }),
    ...(asGroups.length === 0 ? {} : { 'impersonate-group': asGroups }),
    ...Object.fromEntries([...asExtra].map(([key, values]) => [`impersonate-extra-${escapedKey(key)}`, values])),
  };
}

/** Percent encoding of what a header's name cannot hold, and of the percent sign. */
const escapedKey = (key: string): string => key.replace(TOKEN_CHARACTER, (character) => percentEncoded(character));

const percentEncoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
