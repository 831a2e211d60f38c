import type { ApiObject } from '../../../machinery/meta/object.js';
import type { UserInfo } from '../../request/request.js';
import type { Strategy } from '../strategy.js';

/**
 * Signers trust what a request says of its author, so that is the server's word alone: the body's is dropped, and a
 * request starts undecided.
 */
function prepareForCreate(request: ApiObject, { name, uid, groups, extra }: UserInfo): void {
  const asked = { ...(request['spec'] as Record<string, unknown> | undefined) };
  for (const member of ['username', 'uid', 'groups', 'extra']) Reflect.deleteProperty(asked, member);
  request['spec'] = {
    ...asked,
    username: name,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0 ? {} : { extra: Object.fromEntries(Object.entries(extra)) }),
  };
  request['status'] = {};
}

/** The request and its author never change: other values in a write are ignored. */
function prepareForUpdate(next: ApiObject, old: ApiObject): void {
  next['spec'] = old['spec'];
}

export const signingRequests: Partial<Strategy> = { unowned: ['spec'], prepareForCreate, prepareForUpdate };
