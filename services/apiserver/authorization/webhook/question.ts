import type { UserInfo } from '../../request/request.js';
import { digestOf } from '../../webhook-reviews/digest.js';
import type { Attributes } from '../authorizer.js';
import type { SelectorRequirement, Selectors } from '../selectors.js';

/** The member with the list of groups; the versions of the review differ in nothing else. */
export type GroupsMember = 'group' | 'groups';

/** The spec of a SubjectAccessReview (spec 2, 2.5). What is empty is left out, as other servers do. */
export const specOf = (user: UserInfo, attributes: Attributes, groups: GroupsMember): object => ({
  ...attributesOf(attributes),
  ...(user.name === '' ? {} : { user: user.name }),
  ...(user.groups.length === 0 ? {} : { [groups]: user.groups }),
  ...(user.uid === '' ? {} : { uid: user.uid }),
  ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
});

function attributesOf(a: Attributes): object {
  if (a.kind === 'path') return { nonResourceAttributes: given({ path: a.path, verb: a.verb }) };
  const { namespace, verb, group, version, resource, subresource, name, selectors } = a;
  const about = given({ namespace, verb, group, version, resource, subresource, name });
  return { resourceAttributes: { ...about, ...(selectors === undefined ? {} : narrowedBy(selectors)) } };
}

const narrowedBy = ({ fields, labels }: Selectors): object => ({
  ...listed('fieldSelector', fields),
  ...listed('labelSelector', labels),
});

const listed = (member: string, requirements: readonly SelectorRequirement[]): object =>
  requirements.length === 0 ? {} : { [member]: { requirements } };

const given = (texts: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

function textsOf(a: Attributes): readonly string[] {
  if (a.kind === 'path') return [a.verb, a.path];
  const texts = [a.verb, a.group, a.version, a.resource, a.subresource, a.namespace, a.name];
  return a.selectors === undefined ? texts : [...texts, JSON.stringify(narrowedBy(a.selectors))];
}

/** How long what is asked for is, in characters. */
export const lengthOf = (a: Attributes): number => textsOf(a).reduce((sum, text) => sum + text.length, 0);

/** Users are few and their requests many. */
const ofUsers = new WeakMap<UserInfo, string>();

/** Stands for a question: another one for another user, or for any other attribute. */
export function keyOf(user: UserInfo, attributes: Attributes): string {
  let who = ofUsers.get(user);
  if (who === undefined) {
    who = digestOf([user.name, user.uid, user.groups, Object.entries(user.extra)]);
    ofUsers.set(user, who);
  }
  return digestOf([who, attributes.kind, ...textsOf(attributes)]);
}
