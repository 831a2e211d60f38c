import assert from 'node:assert/strict';
import type { Client, Reply } from './client.js';
import type { Document } from './document.js';

let namespaces = 0;

/** Makes a namespace that no other test has. */
export async function newNamespace(client: Client): Promise<string> {
  const name = `test-${++namespaces}-${process.pid}`;
  const reply = await client.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  assert.equal(reply.code, 201, reply.text);
  return name;
}

export const configMapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

export interface ConfigMapParts {
  readonly data?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly immutable?: boolean;
}

export const configMap = (name: string, { data, labels, metadata, immutable }: ConfigMapParts = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels === undefined ? {} : { labels }), ...metadata },
  ...(data === undefined ? {} : { data }),
  ...(immutable === undefined ? {} : { immutable }),
});

/** @returns The object as it is stored. */
export async function createConfigMap(
  client: Client,
  namespace: string,
  name: string,
  parts: ConfigMapParts = {},
): Promise<Document> {
  return created(await client.post(configMapsIn(namespace), configMap(name, parts)));
}

export function created(reply: Reply): Document {
  assert.equal(reply.code, 201, reply.text);
  return reply.body;
}

export function ok(reply: Reply): Document {
  assert.equal(reply.code, 200, reply.text);
  return reply.body;
}

const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Asserts a success whose object is marked for deletion. */
export function markedForDeletion(reply: Reply): Document {
  const object = ok(reply);
  assert.match(object.metadata.deletionTimestamp ?? '', SECONDS);
  return object;
}

/** Asserts a failure: status code, reason and a part of its message. */
export function refused(reply: Reply, code: number, reason: string, message: RegExp = /./): Document {
  assert.equal(reply.code, code, reply.text);
  const { kind, status, reason: given, code: inBody, message: text } = reply.body;
  assert.deepEqual({ kind, status, reason: given, code: inBody }, { kind: 'Status', status: 'Failure', reason, code });
  assert.match(text, message);
  return reply.body;
}

export const deploymentsIn = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`;

export const deployment = (name: string, spec: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'image:1' }] },
    },
    ...spec,
  },
});

export const pod = (name: string, spec: object = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'image:1' }], ...spec },
});

/** Tries until `look` gives something, at most `withinMs`. For what happens by itself and tells nobody. */
export async function eventually<T>(look: () => Promise<T | undefined>, withinMs = 10_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error('What was waited for did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
