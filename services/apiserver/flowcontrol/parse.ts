import { memberOf, strings } from '../../machinery/rbac/policy-rule.js';
import type { Queuing } from './queues/fair-queues.js';
import type {
  Distinguisher,
  FlowRule,
  LevelSpec,
  PathRule,
  ResourceRule,
  SchemaSpec,
  Subject,
} from './flow-control-specs.js';

/*
 * Readers of stored objects. These were checked when they were written, but others may write to the store: what
 * has another shape is left out, and nothing here throws.
 */

export const EXEMPT = 'exempt';
export const CATCH_ALL = 'catch-all';

/** undefined for what is no level. */
export function levelSpec(name: string, object: unknown): LevelSpec | undefined {
  const spec = memberOf(object, 'spec');
  const uid = text(memberOf(memberOf(object, 'metadata'), 'uid'));
  const limited = memberOf(spec, 'limited');
  if (memberOf(spec, 'type') === 'Exempt') return { name, uid, exempt: true, shares: 0, queuing: undefined };
  if (limited === undefined) return undefined;
  const response = memberOf(limited, 'limitResponse');
  const queuing = memberOf(response, 'type') === 'Queue' ? queuingOf(memberOf(response, 'queuing')) : undefined;
  return { name, uid, exempt: false, shares: positive(memberOf(limited, 'assuredConcurrencyShares'), 30), queuing };
}

function queuingOf(queuing: unknown): Queuing {
  const queues = positive(memberOf(queuing, 'queues'), 64);
  return {
    queues,
    handSize: Math.min(positive(memberOf(queuing, 'handSize'), 8), queues),
    queueLengthLimit: positive(memberOf(queuing, 'queueLengthLimit'), 50),
  };
}

/** undefined for what is no schema. */
export function schemaSpec(name: string, object: unknown): SchemaSpec | undefined {
  const spec = memberOf(object, 'spec');
  const level = memberOf(memberOf(spec, 'priorityLevelConfiguration'), 'name');
  if (typeof level !== 'string') return undefined;
  return {
    name,
    uid: text(memberOf(memberOf(object, 'metadata'), 'uid')),
    level,
    precedence: positive(memberOf(spec, 'matchingPrecedence'), 1000),
    distinguisher: distinguisherOf(memberOf(memberOf(spec, 'distinguisherMethod'), 'type')),
    rules: list(memberOf(spec, 'rules')).map(flowRule),
  };
}

const distinguisherOf = (type: unknown): Distinguisher => (type === 'ByUser' || type === 'ByNamespace' ? type : 'none');

const flowRule = (rule: unknown): FlowRule => ({
  subjects: list(memberOf(rule, 'subjects')).flatMap((subject) => subjectOf(subject) ?? []),
  resourceRules: list(memberOf(rule, 'resourceRules')).flatMap((of) => resourceRule(of) ?? []),
  nonResourceRules: list(memberOf(rule, 'nonResourceRules')).flatMap((of) => pathRule(of) ?? []),
});

/** Kinds of subjects, and the member that each has. */
const MEMBERS = { User: 'user', Group: 'group', ServiceAccount: 'serviceAccount' } as const;

function subjectOf(subject: unknown): Subject | undefined {
  const kind = memberOf(subject, 'kind');
  if (kind !== 'User' && kind !== 'Group' && kind !== 'ServiceAccount') return undefined;
  const named = memberOf(subject, MEMBERS[kind]);
  const name = text(memberOf(named, 'name'));
  if (name === '') return undefined;
  return kind === 'ServiceAccount' ? { kind, name, namespace: text(memberOf(named, 'namespace')) } : { kind, name };
}

function resourceRule(rule: unknown): ResourceRule | undefined {
  const [verbs, apiGroups, resources, namespaces] = ['verbs', 'apiGroups', 'resources', 'namespaces'].map((name) =>
    strings(memberOf(rule, name)),
  );
  if (!verbs || !apiGroups || !resources || !namespaces) return undefined;
  return { verbs, apiGroups, resources, namespaces, clusterScope: memberOf(rule, 'clusterScope') === true };
}

function pathRule(rule: unknown): PathRule | undefined {
  const verbs = strings(memberOf(rule, 'verbs'));
  const nonResourceURLs = strings(memberOf(rule, 'nonResourceURLs'));
  return verbs && nonResourceURLs ? { verbs, nonResourceURLs } : undefined;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value > 0 ? value : otherwise;
