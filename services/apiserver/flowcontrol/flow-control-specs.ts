import type { Queuing } from './queues/fair-queues.js';

/** The spec of a priority level (`PriorityLevelConfiguration`). */
export interface LevelSpec {
  readonly name: string;
  /** '' for one that is built in and not there as an object. */
  readonly uid: string;
  /** Passes by all limits. */
  readonly exempt: boolean;
  /** Of the seats of the server, beside those of the other levels. */
  readonly shares: number;
  /** undefined: what cannot run at once is refused. */
  readonly queuing: Queuing | undefined;
}

/** A subject of a rule. `*` as a name: all of the kind. */
export type Subject =
  | { readonly kind: 'User' | 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string };

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** `pods`, `pods/status` */
  readonly resources: readonly string[];
  /** Whether it is about what lies in no namespace, and about all namespaces at once. */
  readonly clusterScope: boolean;
  readonly namespaces: readonly string[];
}

export interface PathRule {
  readonly verbs: readonly string[];
  /** May end in `*`. */
  readonly nonResourceURLs: readonly string[];
}

export interface FlowRule {
  readonly subjects: readonly Subject[];
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly PathRule[];
}

/** The attribute that tells the flows of a schema apart; `none`: it has one flow. */
export type Distinguisher = 'ByUser' | 'ByNamespace' | 'none';

/** The spec of a flow schema (`FlowSchema`). */
export interface SchemaSpec {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  /** The least that matches counts. */
  readonly precedence: number;
  readonly distinguisher: Distinguisher;
  readonly rules: readonly FlowRule[];
}
