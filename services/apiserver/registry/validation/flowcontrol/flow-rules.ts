import { type TextRule, dns1123Label } from '../../../../machinery/meta/metadata.js';
import type * as flowcontrol from '../../../../machinery/types/generated/flowcontrol.v1beta2.js';
import { type At, shownList, type List, checkRule, each } from '../checks/at.js';
import type { TypeRules } from '../types.js';
import { checkHands, checkLimits, checkResponse } from './priority-levels.js';

const ALL = '*';
/** The member that each kind of subject has, in the order in which they are reported. */
const MEMBERS = [
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
] as const;

function checkSubject(at: At, subject: flowcontrol.Subject): void {
  const { kind = '' } = subject;
  const own = MEMBERS.find(([owner]) => owner === kind)?.[1];
  if (own === undefined) return;
  if (subject[own] === undefined) at.required(own, `${own} is required when subject kind is '${kind}'`);
  for (const [owner, member] of MEMBERS) {
    if (member === own || subject[member] === undefined) continue;
    at.forbidden(member, `${member} is forbidden when subject kind is not '${owner}'`);
  }
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** The items that say something of their own: none of a list of all. */
const named = (list: List<string>): readonly string[] => (list?.includes(ALL) === true ? [] : (list ?? []));

function checkVerbs(at: At, verbs: List<string>): void {
  const others = named(verbs);
  if (others.some((verb) => !VERBS.includes(verb))) at.notSupportedShown('verbs', shownList(others), VERBS);
}

function checkResourceRule(at: At, { verbs, namespaces, clusterScope = false }: flowcontrol.ResourcePolicyRule): void {
  checkVerbs(at, verbs);
  if (!clusterScope && (namespaces ?? []).length === 0) {
    at.required('namespaces', 'resource rules that are not cluster scoped must supply at least one namespace');
  }
  each(at, 'namespaces', named(namespaces), (namespace, namespaceAt) => {
    for (const problem of dns1123Label(namespace)) {
      namespaceAt.invalid('', namespace, `each member of this list must be '*' or a DNS-1123 label; ${problem}`);
    }
  });
}

/** The first thing that is wrong. */
const urlPath: TextRule = (path) => {
  if (path === '/') return [];
  if (path === '') return ['must not be empty'];
  if (!path.startsWith('/')) return ['must start with slash'];
  if (path.includes(' ')) return ['must not contain white-space'];
  if (path.includes('//')) return ['must not contain double slash'];
  const star = path.indexOf(ALL);
  const isSuffix = star < 0 || (star === path.length - 1 && path.endsWith('/*'));
  return isSuffix ? [] : ['wildcard can only do suffix matching'];
};

function checkNonResourceRule(at: At, { verbs, nonResourceURLs }: flowcontrol.NonResourcePolicyRule): void {
  checkVerbs(at, verbs);
  each(at, 'nonResourceURLs', named(nonResourceURLs), (url, urlAt) => checkRule(urlAt, '', url, urlPath));
}

export const flowcontrolRules: TypeRules<flowcontrol.Types> = {
  LimitResponse: checkResponse,
  NonResourcePolicyRule: checkNonResourceRule,
  PolicyRulesWithSubjects: (at, { resourceRules = [], nonResourceRules = [] }) => {
    if (resourceRules.length > 0 || nonResourceRules.length > 0) return;
    at.required('', 'at least one of resourceRules and nonResourceRules has to be non-empty');
  },
  PriorityLevelConfigurationSpec: checkLimits,
  QueuingConfiguration: checkHands,
  ResourcePolicyRule: checkResourceRule,
  Subject: checkSubject,
};
