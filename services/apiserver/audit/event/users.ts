import type { UserInfo } from '../../request/request.js';

/** Users are few and their requests many. */
const known = new WeakMap<UserInfo, string>();

/** A user as events show him: what is empty is left out. */
export function userJson(user: UserInfo): string {
  let text = known.get(user);
  if (text === undefined) known.set(user, (text = encode(user)));
  return text;
}

const encode = ({ name, uid, groups, extra }: UserInfo): string =>
  JSON.stringify({
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  });
