import type { Client } from './client.js';
import { created } from './objects.js';

const GROUP = 'admissionregistration.platform.io';

export type PolicyKind = 'Validating' | 'Mutating';

export const policiesOf = (kind: PolicyKind): string => `/apis/${GROUP}/v1/${kind.toLowerCase()}admissionpolicies`;
export const bindingsOf = (kind: PolicyKind): string =>
  `/apis/${GROUP}/v1/${kind.toLowerCase()}admissionpolicybindings`;

/** The name by which namespaces are known to selectors. */
const NAME_LABEL = 'platform.io/metadata.name';

/** Rules for all that is created and updated. */
export const RULES = [
  { operations: ['CREATE', 'UPDATE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['configmaps', 'deployments'] },
];

const kindOf = (kind: PolicyKind, what: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: `${kind}AdmissionPolicy${what}`,
});

/** A policy for objects of one namespace, unless `spec` says otherwise. */
export const policy = (kind: PolicyKind, name: string, namespace: string, spec: object): object => ({
  ...kindOf(kind, ''),
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: RULES,
      namespaceSelector: { matchLabels: { [NAME_LABEL]: namespace } },
    },
    ...(kind === 'Mutating' && { reinvocationPolicy: 'Never' }),
    ...spec,
  },
});

export const binding = (kind: PolicyKind, name: string, spec: object = {}): object => ({
  ...kindOf(kind, 'Binding'),
  metadata: { name },
  spec: { policyName: name, ...(kind === 'Validating' && { validationActions: ['Deny'] }), ...spec },
});

/** Policies and bindings of a test. They hold when their writes are answered. */
export class Policies {
  readonly #client: Client;
  readonly #made: string[] = [];
  #count = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** A policy with a binding of the same name. @returns The name */
  async add(kind: PolicyKind, namespace: string, spec: object, bindingSpec: object = {}): Promise<string> {
    const name = `p${++this.#count}-${namespace}`;
    await this.make(policiesOf(kind), policy(kind, name, namespace, spec));
    await this.make(bindingsOf(kind), binding(kind, name, bindingSpec));
    return name;
  }

  async make(path: string, object: object): Promise<void> {
    created(await this.#client.post(path, object));
    this.#made.push(`${path}/${(object as { metadata: { name: string } }).metadata.name}`);
  }

  async removeAll(): Promise<void> {
    for (const path of this.#made.splice(0)) await this.#client.delete(path);
  }
}
