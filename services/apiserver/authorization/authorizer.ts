import type { Asker } from '../http/turns.js';
import type { UserInfo } from '../request/request.js';
import type { Selectors } from './selectors.js';

/** A question about an object or a collection. A request about a resource is one, and so is what a review asks. */
export interface ResourceAttributes {
  readonly kind: 'resource';
  /** As rules write it; besides the verbs of requests those of other rights: `impersonate`, `bind`, `escalate`, `use`, ... */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** '' at the scope of the cluster, and for all namespaces. */
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  /** Absent: the question is about all objects of a collection. Rules of roles know nothing of selectors. */
  readonly selectors?: Selectors | undefined;
}

/** A question about a path that is no resource's. */
export interface PathAttributes {
  readonly kind: 'path';
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** A question to authorizers, without the user (spec 2, 5.9). */
export type Attributes = ResourceAttributes | PathAttributes;

export interface Decision {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  /** For people: in the 403, in the audit and in access reviews. */
  readonly reason: string;
  /** An error on the way. Such an answer never allows. */
  readonly error?: string;
}

export const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };

/** Answers or has no opinion; asked in order until one answers. A request without an answer, or with an error, is refused. */
export interface Authorizer {
  /** As `--authorization-mode` names it, for those that it names. */
  readonly name: string;
  /** @param asker Who waits for the answer: what asks others ends with him. @throws `asker.signal.reason` */
  authorize(user: UserInfo, attributes: Attributes, asker?: Asker): Promise<Decision> | Decision;
  /** Rules for a user in a namespace, as far as they can be listed. Absent: they cannot. */
  rulesFor?(user: UserInfo, namespace: string): RuleList;
}

/** One rule about resources, in the form of roles. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: all. */
  readonly resourceNames: readonly string[];
}

/** One rule about paths; a path may end in `*`. */
export interface PathRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly pathRules: readonly PathRule[];
  /** There may be more than what is listed. */
  readonly incomplete: boolean;
  /** Why, when something went wrong. */
  readonly error?: string;
}
