import { randomUUID } from 'node:crypto';
import type { AnyObject, Live, ResourceType } from '../../../services/client/rest/resource-type.js';
import type { OwnerReference } from '../../../services/machinery/types/generated/meta.v1.js';
import {
  scenarios,
  referenceTo,
  types,
  type Life,
  type Look,
  type Scenario,
  type ScenarioContext,
} from './scenario.js';

const HOLD = 'example.com/hold';

interface Member {
  readonly type?: ResourceType;
  readonly owners?: readonly string[];
  /** Owners whose deletion in the foreground waits for it. */
  readonly blocks?: readonly string[];
  /** An owner that is not there, as a reference says. */
  readonly refersTo?: Partial<OwnerReference>;
  readonly finalizers?: readonly string[];
}

type Family = Readonly<Record<string, Member>>;
type Policy = 'Background' | 'Foreground' | 'Orphan';

interface FamilyScenario {
  readonly name: string;
  /** Made in this order, in one namespace. */
  readonly family: Family;
  readonly deleted?: Readonly<Record<string, Policy | undefined>>;
  readonly expected: Readonly<Record<string, Life>>;
}

type Made = Record<string, readonly [ResourceType, Live<AnyObject>]>;

async function make(c: ScenarioContext, namespace: string, family: Family): Promise<Made> {
  const made: Made = {};
  for (const [name, { type = types.configMaps, owners = [], blocks = [], refersTo, finalizers }] of Object.entries(
    family,
  )) {
    const to = (owner: string): OwnerReference => referenceTo((made[owner] as Made[string])[1]);
    const ownerReferences = [
      ...owners.map(to),
      ...blocks.map((owner) => ({ ...to(owner), blockOwnerDeletion: true })),
      ...(refersTo === undefined
        ? []
        : [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: randomUUID(), ...refersTo }]),
    ];
    const place = type.namespaced ? { name, namespace } : { name: c.named(name) };
    const metadata = { ...place, ownerReferences, ...(finalizers && { finalizers }) };
    made[name] = [type, await c.create(type, { metadata })];
  }
  return made;
}

const familyScenario = ({ name, family, deleted = {}, expected }: FamilyScenario): Scenario => ({
  name,
  expected,
  run: async (c) => {
    const made = await make(c, await c.namespace(), family);
    for (const [member, propagationPolicy] of Object.entries(deleted)) {
      await c.delete(...(made[member] as Made[string]), propagationPolicy === undefined ? {} : { propagationPolicy });
    }
    return c.lives(made);
  },
});

const FAMILIES: readonly FamilyScenario[] = [
  {
    name: 'a dependent goes after its owner, and nothing else goes',
    family: { owner: {}, child: { owners: ['owner'] }, other: {} },
    deleted: { owner: 'Background' },
    expected: { owner: 'gone', child: 'gone', other: {} },
  },
  {
    name: 'dependents of dependents go, too',
    family: { a: {}, b: { owners: ['a'] }, c: { owners: ['b'] }, d: { owners: ['c'] } },
    deleted: { a: 'Background' },
    expected: { a: 'gone', b: 'gone', c: 'gone', d: 'gone' },
  },
  {
    name: 'dependents of other types go, too',
    family: {
      owner: {},
      secret: { type: types.secrets, owners: ['owner'] },
      account: { type: types.serviceAccounts, owners: ['owner'] },
      lease: { type: types.leases, owners: ['owner'] },
      role: { type: types.roles, owners: ['owner'] },
    },
    deleted: { owner: 'Background' },
    expected: { owner: 'gone', secret: 'gone', account: 'gone', lease: 'gone', role: 'gone' },
  },
  {
    name: 'an owner deleted in the foreground goes after its dependents',
    family: { owner: {}, child: { blocks: ['owner'] }, grandchild: { blocks: ['child'] } },
    deleted: { owner: 'Foreground' },
    expected: { owner: 'gone', child: 'gone', grandchild: 'gone' },
  },
  {
    name: 'an owner deleted in the foreground waits for a dependent that blocks',
    family: { owner: {}, child: { blocks: ['owner'], finalizers: [HOLD] } },
    deleted: { owner: 'Foreground' },
    expected: {
      owner: { deleting: true, finalizers: ['foregroundDeletion'] },
      child: { deleting: true, finalizers: [HOLD], owners: ['owner'] },
    },
  },
  {
    name: 'an owner deleted in the foreground waits for no dependent that does not block',
    family: { owner: {}, child: { owners: ['owner'], finalizers: [HOLD] } },
    deleted: { owner: 'Foreground' },
    expected: { owner: 'gone', child: { deleting: true, finalizers: [HOLD], owners: ['owner'] } },
  },
  {
    name: 'orphans stay, without their owner',
    family: { owner: {}, a: { owners: ['owner'] }, b: { blocks: ['owner'] } },
    deleted: { owner: 'Orphan' },
    expected: { owner: 'gone', a: {}, b: {} },
  },
  {
    name: 'an owner that asks for it by its finalizer leaves orphans, however it is deleted',
    family: { owner: { finalizers: ['orphan'] }, a: { owners: ['owner'] } },
    deleted: { owner: undefined },
    expected: { owner: 'gone', a: {} },
  },
  {
    name: 'an owner that asks for it by its finalizer goes after its dependents, however it is deleted',
    family: { owner: { finalizers: ['foregroundDeletion'] }, a: { blocks: ['owner'], finalizers: [HOLD] } },
    deleted: { owner: undefined },
    expected: {
      owner: { deleting: true, finalizers: ['foregroundDeletion'] },
      a: { deleting: true, finalizers: [HOLD], owners: ['owner'] },
    },
  },
  {
    name: 'a dependent of two owners stays with the one that is left',
    family: { a: {}, b: {}, child: { owners: ['a', 'b'] } },
    deleted: { a: 'Background' },
    expected: { a: 'gone', b: {}, child: { owners: ['b'] } },
  },
  {
    name: 'a dependent of two owners goes after both',
    family: { a: {}, b: {}, child: { owners: ['a', 'b'] } },
    deleted: { a: 'Background', b: 'Background' },
    expected: { a: 'gone', b: 'gone', child: 'gone' },
  },
  {
    name: 'an owner deleted in the foreground does not wait for a dependent that another one keeps',
    family: { a: {}, b: {}, child: { owners: ['b'], blocks: ['a'] } },
    deleted: { a: 'Foreground' },
    expected: { a: 'gone', b: {}, child: { owners: ['b'] } },
  },
  {
    name: 'a dependent of an owner that never was goes',
    family: { child: { refersTo: {} } },
    expected: { child: 'gone' },
  },
  {
    name: 'a dependent of an owner that has the name and another uid goes',
    family: { owner: {}, child: { refersTo: { name: 'owner' } } },
    expected: { owner: {}, child: 'gone' },
  },
  {
    name: 'a dependent of a type that nobody knows stays',
    family: { child: { refersTo: { apiVersion: 'example.com/v1', kind: 'Widget' } }, lost: { refersTo: {} } },
    expected: { child: { owners: ['x'] }, lost: 'gone' },
  },
  {
    name: 'an owner without a namespace takes a dependent in one along',
    family: { owner: { type: types.clusterRoles }, child: { owners: ['owner'] } },
    deleted: { owner: 'Background' },
    expected: { owner: 'gone', child: 'gone' },
  },
];

interface Told {
  readonly reason?: string;
  readonly type?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

const toldOf = ({ reason, type, message, involvedObject: { kind, name } = {} }: Told): object => ({ reason, type, message, about: `${kind ?? ''} ${name ?? ''}` }); // prettier-ignore

const circle: Scenario = {
  name: 'two that own each other go in the foreground',
  expected: { a: 'gone', b: 'gone' },
  run: async (c) => {
    const made = await make(c, await c.namespace(), { a: {}, b: { blocks: ['a'] } });
    const { a, b } = made as Record<'a' | 'b', Made[string]>;
    const ownerReferences = [{ ...referenceTo(b[1]), blockOwnerDeletion: true }];
    await c.patch(...a, { metadata: { ownerReferences } });
    await c.delete(...a, { propagationPolicy: 'Foreground' });
    return c.lives(made);
  },
};

const elsewhere: Scenario = {
  name: 'a dependent of an owner in another namespace goes, and an event says why',
  expected: {
    lives: { owner: {}, child: 'gone' },
    events: [
      {
        reason: 'OwnerRefInvalidNamespace',
        type: 'Warning',
        message:
          'ownerRef [v1/ConfigMap, namespace: scenario, name: owner, uid: <uid>] does not exist in namespace "scenario"',
        about: 'ConfigMap child',
      },
    ],
  },
  run: async (c): Promise<Look> => {
    const namespace = await c.namespace();
    const { owner } = (await make(c, await c.namespace('elsewhere'), { owner: {} })) as Record<'owner', Made[string]>;
    const metadata = { name: 'child', namespace, ownerReferences: [referenceTo(owner[1])] };
    const child = await c.create(types.configMaps, { metadata });
    const lives = c.lives({ owner, child: [types.configMaps, child] });
    return async () => ({ lives: await lives(), events: (await c.list(types.events, namespace)).map(toldOf) });
  },
};

const misplaced: Scenario = {
  name: 'an object without a namespace stays that names an owner in one, and an event says why',
  expected: {
    lives: { owner: {}, child: { owners: ['owner'] } },
    events: [
      {
        reason: 'OwnerRefInvalidNamespace',
        type: 'Warning',
        message: 'ownerRef [v1/ConfigMap, namespace: , name: owner, uid: <uid>] does not exist in namespace ""',
        about: 'ClusterRole child',
      },
    ],
  },
  run: async (c): Promise<Look> => {
    const { owner } = (await make(c, await c.namespace(), { owner: {} })) as Record<'owner', Made[string]>;
    const metadata = { name: c.named('child'), ownerReferences: [referenceTo(owner[1])] };
    const child = await c.create(types.clusterRoles, { metadata, rules: [] });
    const lives = c.lives({ owner, child: [types.clusterRoles, child] });
    return async () => {
      const told = await c.list(types.events, 'default');
      const own = told.filter(({ involvedObject }) => involvedObject?.uid === child.metadata.uid);
      return { lives: await lives(), events: own.map(toldOf) };
    };
  },
};

export const OWNERS = scenarios('owners', [...FAMILIES.map(familyScenario), circle, elsewhere, misplaced]);
