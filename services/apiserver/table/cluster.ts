import { conditionIsTrue, listOf, numberOf, recordOf, textOf, type Show } from './cell.js';

const MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];
const shortModes = (modes: unknown): string =>
  MODES.filter(([mode]) => listOf(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');

/** `cpu: 1/2, pods: 3/10` */
const quotaText = (hard: unknown, used: unknown, ofLimits: boolean): string =>
  Object.entries(recordOf(hard))
    .filter(([name]) => name.startsWith('limits.') === ofLimits)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, most]) => `${name}: ${textOf(recordOf(used)[name]) || '0'}/${textOf(most)}`)
    .join(', ');

const condition = (conditions: unknown, type: string): Readonly<Record<string, unknown>> | undefined =>
  listOf(conditions)
    .map(recordOf)
    .find((it) => it['type'] === type);

/** Functions for columns of nodes, volumes, quotas, events and the like. */
export const CLUSTER = {
  nodeStatus: ({ first }) => {
    const ready = condition(first(0), 'Ready');
    const state = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
    return first(1) === true ? `${state},SchedulingDisabled` : state;
  },
  nodeRoles: ({ first, args: [prefix = '', key = ''] }) => {
    const roles = Object.entries(recordOf(first())).map(([label, value]) =>
      label.startsWith(prefix) ? label.slice(prefix.length) : label === key ? textOf(value) : '',
    );
    const named = [...new Set(roles.filter((role) => role !== ''))];
    return named.length === 0 ? '<none>' : named.sort().join(',');
  },
  accessModes: ({ first }) => shortModes(first()),
  /** Of a claim that has its volume. */
  boundAccessModes: ({ first }) => (first(0) === undefined ? '' : shortModes(first(1))),
  boundQuantity: ({ first }) => (first(0) === undefined ? '' : textOf(first(1)) || '0'),
  quotaRequests: ({ first }) => quotaText(first(0), first(1), false),
  quotaLimits: ({ first }) => quotaText(first(0), first(1), true),
  /** A storage class that claims without one get is marked. */
  defaultName: ({ first }) => {
    const isDefault = first(1) === 'true' || first(2) === 'true';
    return `${textOf(first(0))}${isDefault ? ' (default)' : ''}`;
  },
  involved: ({ first }) => {
    const { kind, name } = recordOf(first());
    const object = textOf(kind).toLowerCase();
    return textOf(name) === '' ? object : `${object}/${textOf(name)}`;
  },
  eventSource: ({ first }) => {
    const [component, instance] = [textOf(first(0)) || textOf(first(1)), textOf(first(2)) || textOf(first(3))];
    return instance === '' ? component : `${component}, ${instance}`;
  },
  /** One that was sent once counts nothing. */
  eventCount: ({ first }) => numberOf(first(0)) || numberOf(first(1)) || 1,
  requestState: ({ first }) => {
    const conditions = first(0);
    const has = (type: string): boolean => condition(conditions, type) !== undefined;
    const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
    return `${decision}${has('Failed') ? ',Failed' : ''}${textOf(first(1)) === '' ? '' : ',Issued'}`;
  },
  availability: ({ first }) => {
    const found = condition(first(), 'Available');
    if (found === undefined) return 'Unknown';
    return found['status'] === 'True' ? 'True' : `${textOf(found['status'])} (${textOf(found['reason'])})`;
  },
  componentHealth: ({ first }) => {
    const conditions = first();
    if (condition(conditions, 'Healthy') === undefined) return 'Unknown';
    return conditionIsTrue(conditions, 'Healthy') ? 'Healthy' : 'Unhealthy';
  },
} as const satisfies Readonly<Record<string, Show>>;
