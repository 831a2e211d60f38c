import type { At } from '../checks/at.js';
import { shownList } from '../checks/at.js';
import { checkEnum, each } from '../checks/members.js';

export interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

const ALL = '*';
const OPERATIONS = [ALL, 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = [ALL, 'Cluster', 'Namespaced'];

/** Lists that name something, or everything and nothing besides. @param what For the message. */
function checkList(at: At, member: string, list: readonly string[], what: string): void {
  if (list.length === 0) at.required(member);
  if (list.length > 1 && list.includes(ALL)) {
    at.invalidShown(member, shownList(list), `if '*' is present, must not specify other ${what}`);
  }
}

/** What is covered by a wildcard before it is not named besides. */
function checkSubresources(at: At, resources: readonly string[]): void {
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  each(at, 'resources', resources, (text, resourceAt) => {
    if (text === '') resourceAt.required('');
    const slash = text.indexOf('/');
    if (slash < 0) return;
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    if (wholeResources.has(resource)) {
      resourceAt.invalid('', text, `if '${resource}/*' is present, must not specify ${text}`);
    }
    if (wholeSubresources.has(subresource)) {
      resourceAt.invalid('', text, `if '*/${subresource}' is present, must not specify ${text}`);
    }
    if (subresource === ALL) wholeResources.add(resource);
    if (resource === ALL) wholeSubresources.add(subresource);
  });
}

function checkResources(at: At, resources: readonly string[]): void {
  if (resources.length === 0) at.required('resources');
  checkSubresources(at, resources);
  if (resources.length > 1 && resources.includes('*/*')) {
    at.invalidShown('resources', shownList(resources), "if '*/*' is present, must not specify other resources");
  }
  const isPlain = (text: string): boolean => text !== '' && text !== ALL && !text.includes('/');
  if (resources.includes(ALL) && resources.some(isPlain)) {
    const why = "if '*' is present, must not specify other resources without subresources";
    at.invalidShown('resources', shownList(resources), why);
  }
}

/** What a webhook wants to be asked about. */
export function checkRule(
  { operations = [], apiGroups = [], apiVersions = [], resources = [], scope }: Rule,
  at: At,
): void {
  checkList(at, 'operations', operations, 'operations');
  each(at, 'operations', operations, (operation, operationAt) => {
    if (!OPERATIONS.includes(operation)) operationAt.notSupported('', operation, OPERATIONS);
  });
  checkList(at, 'apiGroups', apiGroups, 'API groups');
  checkList(at, 'apiVersions', apiVersions, 'API versions');
  each(at, 'apiVersions', apiVersions, (version, versionAt) => {
    if (version === '') versionAt.required('');
  });
  checkResources(at, resources);
  checkEnum(at, 'scope', scope, SCOPES);
}
