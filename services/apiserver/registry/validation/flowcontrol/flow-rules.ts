import type { TextRule } from '../../../../machinery/meta/names.js';
import { dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { At } from '../checks/at.js';
import { shownList } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { checkRule, each, isUnset, requireText } from '../checks/members.js';

interface Named {
  readonly name?: string;
}

interface Subject {
  readonly kind?: string;
  readonly user?: Named;
  readonly group?: Named;
  readonly serviceAccount?: Named & { readonly namespace?: string };
}

interface ResourceRule {
  readonly verbs?: List<string>;
  readonly apiGroups?: List<string>;
  readonly resources?: List<string>;
  readonly clusterScope?: boolean;
  readonly namespaces?: List<string>;
}

interface NonResourceRule {
  readonly verbs?: List<string>;
  readonly nonResourceURLs?: List<string>;
}

export interface FlowRule {
  readonly subjects?: List<Subject>;
  readonly resourceRules?: List<ResourceRule>;
  readonly nonResourceRules?: List<NonResourceRule>;
}

const ALL = '*';
/** Kinds of subjects, sorted as messages list them, and the member that each has. */
const MEMBER_OF = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;
const KINDS = Object.keys(MEMBER_OF) as (keyof typeof MEMBER_OF)[];
/** In the order in which they are reported. */
const MEMBERS = ['ServiceAccount', 'User', 'Group'] as const;

function checkAccount(at: At, { name = '', namespace }: NonNullable<Subject['serviceAccount']>): void {
  if (name === '') at.required('name');
  else if (name !== ALL) checkRule(at, 'name', name, dns1123Subdomain);
  requireText(at, 'namespace', namespace, dns1123Label, 'must specify namespace for service account');
}

function checkSubject(subject: Subject, at: At): void {
  const kind = KINDS.find((known) => known === subject.kind);
  if (kind === undefined) {
    at.notSupported('kind', subject.kind ?? '', KINDS);
    return;
  }
  const member = MEMBER_OF[kind];
  const { [member]: named, serviceAccount } = subject;
  if (named === undefined) at.required(member, `${member} is required when subject kind is '${kind}'`);
  else if (kind === 'ServiceAccount') checkAccount(at.child(member), serviceAccount ?? {});
  else if (isUnset(named.name)) at.child(member).required('name');
  for (const otherKind of MEMBERS) {
    const other = MEMBER_OF[otherKind];
    if (other === member || subject[other] === undefined) continue;
    at.forbidden(other, `${other} is forbidden when subject kind is not '${otherKind}'`);
  }
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

interface ListRule {
  readonly required: string;
  /** For the message about a wildcard that is not alone. */
  readonly what: string;
}

/** @returns The items, where each of them says something of its own. */
function checkList(at: At, member: string, list: List<string>, { required, what }: ListRule): readonly string[] {
  const items = list ?? [];
  if (items.length === 0) at.required(member, required);
  if (!items.includes(ALL)) return items;
  if (items.length > 1) {
    at.invalidShown(member, shownList(items), `if '*' is present, must not specify other ${what}`);
  }
  return [];
}

function checkVerbs(at: At, verbs: List<string>): void {
  const named = checkList(at, 'verbs', verbs, { required: 'verbs must contain at least one value', what: 'verbs' });
  if (named.some((verb) => !VERBS.includes(verb))) at.notSupportedShown('verbs', shownList(named), VERBS);
}

const NAMESPACES: ListRule = {
  required: 'resource rules that are not cluster scoped must supply at least one namespace',
  what: 'namespaces',
};

function checkResourceRule(rule: ResourceRule, at: At): void {
  const { apiGroups, resources, namespaces, clusterScope = false } = rule;
  checkVerbs(at, rule.verbs);
  checkList(at, 'apiGroups', apiGroups, {
    required: 'resource rules must supply at least one api group',
    what: 'api groups',
  });
  checkList(at, 'resources', resources, {
    required: 'resource rules must supply at least one resource',
    what: 'resources',
  });
  if (clusterScope && (namespaces ?? []).length === 0) return;
  each(at, 'namespaces', checkList(at, 'namespaces', namespaces, NAMESPACES), (namespace, namespaceAt) => {
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

function checkNonResourceRule({ verbs, nonResourceURLs }: NonResourceRule, at: At): void {
  checkVerbs(at, verbs);
  const urls = checkList(at, 'nonResourceURLs', nonResourceURLs, {
    required: 'nonResourceURLs must contain at least one value',
    what: 'non-resource URLs',
  });
  each(at, 'nonResourceURLs', urls, (url, urlAt) => checkRule(urlAt, '', url, urlPath));
}

/** Who and what a schema is about. */
export function checkFlowRule({ subjects, resourceRules, nonResourceRules }: FlowRule, at: At): void {
  if ((subjects ?? []).length === 0) at.required('subjects', 'subjects must contain at least one value');
  each(at, 'subjects', subjects, checkSubject);
  if ((resourceRules ?? []).length === 0 && (nonResourceRules ?? []).length === 0) {
    at.required('', 'at least one of resourceRules and nonResourceRules has to be non-empty');
  }
  each(at, 'resourceRules', resourceRules, checkResourceRule);
  each(at, 'nonResourceRules', nonResourceRules, checkNonResourceRule);
}
