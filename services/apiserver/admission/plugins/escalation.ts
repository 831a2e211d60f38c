import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { forbidden, notFound, qualified } from '../../../machinery/meta/status.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { PRIVILEGED_GROUP } from '../../request/users.js';
import type { Reader } from '../../registry/reader.js';
import type { UserInfo } from '../../request/request.js';
import type { Attributes, Decision } from '../../authorization/authorizer.js';
import type { AccessIndex } from '../../authorization/rbac/access-index.js';
import { roleRefOf, type RoleRef } from '../../authorization/rbac/bindings.js';
import {
  EVERYTHING,
  heldBy,
  missingRights,
  shownList,
  shownRule,
  TooManyRights,
  type Held,
} from '../../authorization/rbac/coverage.js';
import { rulesOf, type PolicyRule } from '../../../machinery/rbac/policy-rule.js';

export interface EscalationDeps {
  /** The API group of roles. */
  readonly group: string;
  readonly index: AccessIndex;
  /** Asks all authorizers. */
  readonly decide: (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;
  readonly reader: Pick<Reader, 'whenFresh'>;
}

/** Missing rights that a refusal lists. */
const MAX_SHOWN = 100;

type Check = (d: EscalationDeps, request: AdmissionRequest, object: ApiObject) => Promise<void>;

/**
 * A user cannot give away rights that he does not have: neither by what a role says, nor by binding one (spec 2, 5.9). What a
 * user has is what roles give him; what other authorizers allow is no right that could be passed on, except to
 * `escalate` and to `bind`.
 */
export const rbacEscalation = (d: EscalationDeps): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE'],
  resources: [...CHECKS.keys()].map((resource) => qualified({ group: d.group, resource })),
  validate: (request) => {
    const { resource, object, oldObject, user } = request;
    const check = CHECKS.get(resource.resource);
    if (check === undefined || object === undefined || user.groups.includes(PRIVILEGED_GROUP)) return undefined;
    if (oldObject !== undefined && grantsTheSame(object, oldObject)) return undefined;
    return check(d, request, object);
  },
});

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['roles', checkRole],
  ['clusterroles', checkRole],
  ['rolebindings', checkBinding],
  ['clusterrolebindings', checkBinding],
]);

/**
 * Whether two states differ in nothing but in what the collection of garbage needs. Labels count: a label may put the
 * rules of a role into others.
 */
function grantsTheSame(next: ApiObject, old: ApiObject): boolean {
  return isDeepStrictEqual(rightsPart(next), rightsPart(old));
}

function rightsPart({ metadata: { labels = {}, annotations = {} }, ...object }: ApiObject): object {
  return { ...object, labels, annotations };
}

async function checkRole(d: EscalationDeps, request: AdmissionRequest, object: ApiObject): Promise<void> {
  const { resource, namespace, user, oldObject } = request;
  // A new object has no name yet when rights are looked at, so only an unrestricted right to escalate counts.
  const name = request.operation === 'CREATE' ? '' : request.name;
  await d.reader.whenFresh();
  if (await may(d, user, 'escalate', { resource: resource.resource, namespace, name })) return;
  const held = heldOf(d, user, namespace);
  refuseMissing(held, request, rulesOf(object));
  if (object['aggregationRule'] === undefined && oldObject?.['aggregationRule'] === undefined) return;
  if (missingRights(held, EVERYTHING).length === 0) return;
  throw forbidden(resource, request.name, 'must have cluster-admin privileges to use the aggregationRule');
}

async function checkBinding(d: EscalationDeps, request: AdmissionRequest, object: ApiObject): Promise<void> {
  const { user, namespace } = request;
  const ref = roleRefOf(object, d.group, namespace);
  if (ref === undefined) return; // it grants nothing, and validation has refused it
  const resource = RESOURCES[ref.kind];
  await d.reader.whenFresh();
  if (await may(d, user, 'bind', { resource, namespace, name: ref.name })) return;
  const rules = d.index.rules(ref, namespace);
  if (rules === undefined) throw notFound({ group: d.group, resource }, ref.name);
  refuseMissing(heldOf(d, user, namespace), request, rules);
}

const RESOURCES: Readonly<Record<RoleRef['kind'], string>> = { Role: 'roles', ClusterRole: 'clusterroles' };

async function may(
  { decide, group }: EscalationDeps,
  user: UserInfo,
  verb: string,
  on: { readonly resource: string; readonly namespace: string; readonly name: string },
): Promise<boolean> {
  const { decision } = await decide(user, { kind: 'resource', verb, group, version: '*', subresource: '', ...on });
  return decision === 'allow';
}

/** The rules of all roles that a user has there, arranged once for all that is compared with them. */
const heldOf = ({ index }: EscalationDeps, user: UserInfo, namespace: string): Held =>
  heldBy([...new Set(index.rolesOf(user, namespace))].flatMap(({ rules }) => rules ?? []));

/** @throws {StatusError} Forbidden, with what is missing */
function refuseMissing(held: Held, { resource, name, user }: AdmissionRequest, wanted: readonly PolicyRule[]): void {
  const missing = missingFor(held, wanted);
  if (missing === '') return;
  const who = `user ${JSON.stringify(user.name)} (groups=${shownList(user.groups)})`;
  throw forbidden(resource, name, `${who} is attempting to grant RBAC permissions not currently held:\n${missing}`);
}

/** '' when nothing is missing. */
function missingFor(held: Held, wanted: readonly PolicyRule[]): string {
  try {
    const lines = [...new Set(missingRights(held, wanted).map(shownRule))].sort();
    const more = lines.length > MAX_SHOWN ? [`and ${lines.length - MAX_SHOWN} more`] : [];
    return [...lines.slice(0, MAX_SHOWN), ...more].join('\n');
  } catch (err) {
    if (err instanceof TooManyRights) return err.message;
    throw err;
  }
}
