import { eventually, created } from './objects.js';
import type { Client } from './client.js';
import type { Document } from './document.js';

export const DEFINITIONS = '/apis/apiextensions.platform.io/v1/customresourcedefinitions';

type Json = Readonly<Record<string, unknown>>;

export interface DefinitionParts {
  /** Of the spec of the objects; `properties` and what stands beside them. */
  readonly spec?: Json;
  readonly version?: Json;
  readonly versions?: readonly Json[];
  readonly names?: Json;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly conversion?: Json;
}

export const schemaWith = (spec: Json, status: Json = {}): Json => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', ...spec },
      status: { type: 'object', properties: { phase: { type: 'string' }, ...status } },
    },
  },
});

let groups = 0;
/** A group that no other test has. */
export const newGroup = (): string => `g${++groups}-${process.pid}.example.com`;

/** A definition of `widgets` in version v1, if nothing else is said. */
export function definition(group: string, parts: DefinitionParts = {}): object {
  const { spec = {}, version = {}, names = {}, scope = 'Namespaced', conversion } = parts;
  const own = { plural: 'widgets', kind: 'Widget', ...names };
  const only = { name: 'v1', served: true, storage: true, schema: schemaWith(spec), ...version };
  return {
    apiVersion: 'apiextensions.platform.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${own.plural}.${group}` },
    spec: {
      group,
      scope,
      names: own,
      versions: parts.versions ?? [only],
      ...(conversion === undefined ? {} : { conversion }),
    },
  };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const conditionsOf = (object: Document): readonly Condition[] =>
  (object['status'] as { conditions?: readonly Condition[] | null } | undefined)?.conditions ?? [];

export const conditionOf = (object: Document, type: string): Condition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);

/** Makes a definition and waits until it is established. @returns The path of its objects in a namespace. */
export async function define(
  client: Client,
  group: string,
  parts: DefinitionParts = {},
): Promise<(namespace: string, version?: string) => string> {
  const made = created(await client.post(DEFINITIONS, definition(group, parts)));
  const { plural = 'widgets' } = (parts.names ?? {}) as { plural?: string };
  await established(client, made.metadata.name);
  return (namespace, version = 'v1') =>
    namespace === ''
      ? `/apis/${group}/${version}/${plural}`
      : `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
}

export const established = (client: Client, name: string): Promise<true> =>
  eventually(async () => {
    const { body } = await client.get(`${DEFINITIONS}/${name}`);
    return conditionOf(body, 'Established')?.status === 'True' ? true : undefined;
  });

export const widget = (group: string, name: string, spec: object = {}, more: object = {}): object => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec,
  ...more,
});
