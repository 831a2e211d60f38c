import type { ApiObject } from '../../../../machinery/meta/object.js';
import { forbidden, type StatusError } from '../../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../../plugin.js';

export interface NodeRestrictionDeps {
  readonly vocabulary: Vocabulary;
  /** The newest state; `namespace` is '' for nodes. @throws {StatusError} NotFound */
  readonly present: (resource: 'nodes' | 'pods', namespace: string, name: string) => Promise<ApiObject>;
}

/** A request of the agent of `node`. */
export interface AgentRequest {
  readonly node: string;
  readonly request: AdmissionRequest;
}

/** @throws {StatusError} Forbidden; NotFound for what a decision hangs on */
export type Check = (d: NodeRestrictionDeps, asked: AgentRequest) => Promise<void> | void;

export const refused = ({ resource, name }: AdmissionRequest, why: string): StatusError =>
  forbidden(resource, name, why);

/** The check of an operation that no agent has any business with. */
export const unexpected = ({ request }: AgentRequest): StatusError =>
  refused(request, `unexpected operation ${JSON.stringify(request.operation)}`);

export const quoted = (name: string): string => JSON.stringify(name);

interface SpecParts {
  readonly nodeName?: string;
  readonly serviceAccount?: string;
  readonly taints?: readonly unknown[] | null;
  readonly configSource?: unknown;
  readonly boundObjectRef?: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly uid?: string;
  } | null;
}

/** Shapes were checked against the types of the objects before admission. */
export const specOf = (object: ApiObject | undefined): SpecParts => object?.['spec'] ?? {};
