import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { revision } from '../../../storage/store.js';
import { follow } from '../../cache/follow.js';
import { HistoryBudget } from '../../cache/history.js';
import { ResourceCache } from '../../cache/resource-cache.js';
import { CountedFlowControl } from '../../metrics/flow-control-metrics.js';
import type { PathRequest, RequestVerb, ResourceRequest, UserInfo } from '../../request/request.js';
import { FlowControl } from '../flow-control.js';

const GROUP = vocabulary('kubernetes').groups.flowcontrol;
const API_VERSION = `${GROUP}/v1beta2`;
const RESOURCES = { FlowSchema: 'flowschemas', PriorityLevelConfiguration: 'prioritylevelconfigurations' } as const;
type Kind = keyof typeof RESOURCES;

const cacheOf = (kind: Kind): ResourceCache => {
  const prefix = storagePrefix(kind, API_VERSION);
  return new ResourceCache(
    { prefix: `/registry/${GROUP}/${RESOURCES[kind]}/`, namespaced: false },
    { prefixLength: prefix.length, itemStart: itemStart(prefix.length), selectableFields: [] },
    { prefix, adopt: () => undefined },
    new HistoryBudget({ maxBytes: 1_000_000, retainMs: 1_000 }),
  );
};

/** Real caches, and a flow control that follows them. */
export class FlowScene {
  readonly metrics = new CountedFlowControl();
  readonly control: FlowControl;
  readonly #caches: Readonly<Record<Kind, ResourceCache>> = {
    FlowSchema: cacheOf('FlowSchema'),
    PriorityLevelConfiguration: cacheOf('PriorityLevelConfiguration'),
  };
  #revision = 1;

  constructor(serverSeats: number) {
    this.control = new FlowControl({ serverSeats, metrics: this.metrics, nowMs: () => performance.now() });
    follow(this.#caches.PriorityLevelConfiguration, this.control.followLevels());
    follow(this.#caches.FlowSchema, this.control.followSchemas());
  }

  put(...objects: readonly ApiObject[]): void {
    for (const object of objects) this.#apply(object, 'put', encodeObject({ ...object, apiVersion: API_VERSION }));
  }

  remove(object: ApiObject): void {
    this.#apply(object, 'delete', Buffer.alloc(0));
  }

  /** The name of the schema that a request belongs to. */
  schemaOf(user: UserInfo, info: ResourceRequest | PathRequest): string {
    return this.control.schemaFor(user, info).spec.name;
  }

  #apply({ kind, metadata }: ApiObject, type: 'put' | 'delete', value: Buffer): void {
    const cache = this.#caches[kind as Kind];
    const at = revision(this.#revision++);
    const key = `${cache.keys.prefix}${metadata.name ?? ''}`;
    cache.apply({ type, key, value, createRevision: at, modRevision: at, previous: undefined });
  }
}

export const user = (name: string, ...groups: readonly string[]): UserInfo => ({ name, uid: '', groups, extra: {} });

/** e.g. `ask('get', 'pods/log', 'default')` */
export function ask(verb: RequestVerb, resource: string, namespace = '', group = ''): ResourceRequest {
  const [parent = '', subresource = ''] = resource.split('/');
  const request = { kind: 'resource', verb, group, version: 'v1', namespace, resource: parent, subresource } as const;
  return { ...request, name: '', watchPath: false, declaration: undefined, subresourceDeclaration: undefined };
}

export const askPath = (verb: string, path: string): PathRequest => ({ kind: 'path', verb, path });

const object = (kind: Kind, name: string, spec: object): ApiObject => ({
  kind,
  apiVersion: API_VERSION,
  metadata: { name, uid: `uid-of-${name}` },
  spec,
});

export const aUser = (name: string): object => ({ kind: 'User', user: { name } });
export const aGroup = (name: string): object => ({ kind: 'Group', group: { name } });
export const anAccount = (namespace: string, name: string): object => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace, name },
});

export const ALL_RESOURCES = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
};
export const ALL_PATHS = { verbs: ['*'], nonResourceURLs: ['*'] };

/** Everything that some subjects ask for. */
export const allOf = (...subjects: readonly object[]): object => ({
  subjects,
  resourceRules: [ALL_RESOURCES],
  nonResourceRules: [ALL_PATHS],
});

export interface SchemaParts {
  readonly precedence?: number;
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly rules: readonly object[];
}

export const schema = (name: string, level: string, { precedence = 1000, by, rules }: SchemaParts): ApiObject =>
  object('FlowSchema', name, {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules,
  });

export interface LevelParts {
  readonly shares?: number;
  /** Absent: what cannot run at once is refused. */
  readonly queuing?: { readonly queues: number; readonly handSize: number; readonly queueLengthLimit: number };
}

export const level = (name: string, { shares = 10, queuing }: LevelParts = {}): ApiObject =>
  object('PriorityLevelConfiguration', name, {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: shares,
      limitResponse: queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing },
    },
  });
