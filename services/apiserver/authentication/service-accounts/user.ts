import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { UserInfo } from '../../request/request.js';
import type { TokenClaims } from './claims.js';

/** The name of the user that a service account is. */
export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`;

const GROUP = 'system:serviceaccounts';

/** The user of a token (spec 2, 5.4). Of a pod's token, the extra attributes tell the pod. */
export function userOf({ namespace, account, boundTo }: TokenClaims, { userExtra }: Vocabulary): UserInfo {
  const pod = boundTo.find(({ kind }) => kind === 'pod')?.object;
  return {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: [GROUP, `${GROUP}:${namespace}`],
    extra: pod === undefined ? {} : { [userExtra.podName]: [pod.name], [userExtra.podUid]: [pod.uid] },
  };
}
