import assert from 'node:assert/strict';
import { loadCatalog } from '../../services/machinery/types/catalog.js';
import { apiVersionOf } from '../../services/machinery/meta/object.js';
import type { ResourceDeclaration } from '../../services/machinery/types/declarations.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client } from './tools/client.js';
import type { Document } from './tools/document.js';
import { leastName, WITH_STATUS } from './tools/least.js';
import { created, newNamespace, ok } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';

/*
 * A controller notes what it has done where it tells how things are: a write of the status takes labels, annotations,
 * finalizers and owners with it. A few kinds leave some of that to those who write the object itself.
 */

const words = vocabulary('platform');
const RESOURCES = loadCatalog(words).resources.filter(
  (r) => !r.virtual && r.servedByDefault && r.subresources.some((s) => s.name === 'status'),
);

const WRITTEN = {
  labels: { l: '1' },
  annotations: { n: '1' },
  finalizers: ['example.com/f'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' }],
};
type Member = keyof typeof WRITTEN;
const ALL = Object.keys(WRITTEN) as Member[];

/** What these leave as it was; the rest leaves nothing. */
const LEFT: Readonly<Record<string, readonly Member[]>> = {
  pods: ['ownerReferences'],
  deployments: ['labels'],
  flowschemas: ALL,
  prioritylevelconfigurations: ALL,
  customresourcedefinitions: ALL,
  apiservices: ALL,
  volumeattachments: ALL,
};

interface Entry {
  readonly manager: string;
  readonly subresource?: string;
  readonly fieldsV1: Readonly<Record<string, unknown>>;
}
const ownersIn = ({ metadata }: Document): readonly Entry[] => (metadata['managedFields'] ?? []) as readonly Entry[];
const fieldsOf = (object: Document, manager: string): readonly string[] =>
  ownersIn(object).flatMap((entry) => (entry.manager === manager ? Object.keys(entry.fieldsV1) : []));

function pathOf(r: ResourceDeclaration, namespace: string): string {
  const group = r.group === '' ? '/api' : `/apis/${r.group}`;
  return `${group}/${r.version}${r.namespaced ? `/namespaces/${namespace}` : ''}/${r.resource}`;
}

type Server = () => TestServer;
const PUT_ATTEMPTS = 5;

function writesOf(r: ResourceDeclaration, server: Server): void {
  const least = WITH_STATUS[r.resource];
  const identity = { kind: r.kind, apiVersion: apiVersionOf(r) };
  const left = LEFT[r.resource] ?? [];

  /** @returns The path of a new object, and what it is. */
  const make = async (client: Client): Promise<readonly [string, Document]> => {
    assert.ok(least, `${r.resource} has an entry`);
    const path = pathOf(r, await newNamespace(client));
    const name = leastName(r.resource);
    const body = { ...identity, ...least.body, metadata: { name }, status: least.status };
    return [`${path}/${name}`, created(await client.post(`${path}?fieldManager=creator`, body))];
  };
  const clear = async (client: Client, at: string): Promise<void> => {
    await client.patch(at, { metadata: { finalizers: null } });
    await client.delete(`${at}?gracePeriodSeconds=0`);
  };
  /** Controllers of the server write some kinds, too: what they were quicker with is read and written again. */
  const put = async (
    client: Client,
    at: string,
    rest: string,
    next: (present: Document) => object,
  ): Promise<Document> => {
    for (let attempt = 1; ; attempt++) {
      const reply = await client.put(`${at}${rest}`, next(ok(await client.get(at))));
      if (reply.code !== 409 || attempt === PUT_ATTEMPTS) return ok(reply);
    }
  };
  /** @param after The answer to a write of all that there is. */
  const assertTaken = (before: Document, after: Document): void => {
    for (const member of ALL) {
      if (left.includes(member)) assert.deepEqual(after.metadata[member], before.metadata[member], member);
      else assert.deepEqual(after.metadata[member], merged(before.metadata[member], after, member), member);
    }
    assert.deepEqual(after.spec, before.spec);
    assert.equal(after.metadata.generation, before.metadata.generation);
    const owned = fieldsOf(after, 'controller');
    assert.ok(!owned.includes('f:spec'), JSON.stringify(ownersIn(after)));
    assert.equal(owned.includes('f:metadata'), left.length < ALL.length, JSON.stringify(ownersIn(after)));
  };
  /** Of maps and finalizers, what the server or a patch keeps beside what was written. */
  const merged = (before: unknown, after: Document, member: Member): unknown => {
    if (member === 'finalizers') {
      const kept = ((before ?? []) as readonly string[]).filter((one) => after.metadata.finalizers?.includes(one));
      return [...kept, ...WRITTEN.finalizers];
    }
    const isMap = member === 'labels' || member === 'annotations';
    const kept = Object.entries(isMap ? ((before ?? {})) : {}).filter(([key]) => key in (after.metadata[member] as object)); // prettier-ignore
    return isMap ? { ...Object.fromEntries(kept), ...WRITTEN[member] } : WRITTEN[member];
  };

  it(`by PUT takes the metadata${left.length > 0 ? `, but ${left.join(', ')}` : ''}`, async () => {
    const { client } = server();
    const [at, before] = await make(client);
    const after = await put(
      client,
      at,
      '/status?fieldManager=controller',
      ({ metadata: { name, uid, resourceVersion } }) => ({
        ...before,
        metadata: { name, uid, resourceVersion, ...WRITTEN },
        status: least?.status,
      }),
    );
    assertTaken(before, after);
    await clear(client, at);
  });

  for (const [way, type, query] of [
    ['a merge patch', 'application/merge-patch+json', ''],
    ['an apply', 'application/apply-patch+yaml', '&force=true'],
  ] as const) {
    it(`by ${way} does the same`, async () => {
      const { client } = server();
      const [at, before] = await make(client);
      const body = { ...identity, metadata: { name: before.metadata.name, ...WRITTEN }, status: least?.status };
      assertTaken(before, ok(await client.patch(`${at}/status?fieldManager=controller${query}`, body, type)));
      await clear(client, at);
    });
  }

  it('is the only one that owns of the status', async () => {
    const { client } = server();
    const [at, first] = await make(client);
    const written = await put(client, at, '?fieldManager=main', (present) => ({
      ...present,
      metadata: { ...present.metadata, labels: { ...present.metadata.labels, main: '1' } },
      status: least?.status,
    }));
    const { name } = first.metadata;
    const config = { ...identity, ...least?.body, metadata: { name, labels: { applied: '1' } }, status: least?.status };
    for (const object of [
      first,
      written,
      ok(await client.patch(`${at}?fieldManager=applier&force=true`, config, 'application/apply-patch+yaml')),
    ]) {
      for (const manager of ['creator', 'main', 'applier']) {
        assert.ok(!fieldsOf(object, manager).includes('f:status'), `${manager}: ${JSON.stringify(ownersIn(object))}`);
      }
    }
    await clear(client, at);
  });
}

onServer('a write of the status', { store: 'embedded' }, (server: Server) => {
  for (const r of RESOURCES) describe(`of ${apiVersionOf(r)} ${r.kind}`, () => writesOf(r, server));
});

onServer('a deployment controller', { store: 'embedded' }, (server) => {
  it('notes its revision with the status, and the revision stays', async () => {
    const { client } = server();
    const at = `/apis/apps/v1/namespaces/${await newNamespace(client)}/deployments`;
    const revision = words.annotations.deploymentRevision;
    const first = created(await client.post(at, { ...WITH_STATUS['deployments']?.body, metadata: { name: 'd' } }));
    const annotations = { [revision]: '1' };
    const noted = ok(await client.put(`${at}/d/status`, { ...first, metadata: { ...first.metadata, annotations } }));
    assert.deepEqual([noted.metadata.annotations, noted.metadata.generation], [annotations, 1]);
    assert.deepEqual(ok(await client.patch(`${at}/d`, { spec: { replicas: 2 } })).metadata.annotations, annotations);
  });
});

onServer('the first status', { store: 'embedded' }, (server) => {
  for (const [resource, status, kept] of [
    ['nodes', { phase: 'Running', capacity: { cpu: '2' } }, { phase: 'Running', capacity: { cpu: '2' } }],
    ['persistentvolumes', { phase: 'Bound', message: 'm' }, { phase: 'Bound', message: 'm' }],
    ['persistentvolumes', { message: 'm' }, { phase: 'Pending', message: 'm' }],
    ['namespaces', { phase: 'Terminating' }, { phase: 'Active' }],
  ] as const) {
    for (const way of ['POST', 'apply']) {
      it(`of ${resource} with ${JSON.stringify(status)} is ${JSON.stringify(kept)} by ${way}`, async () => {
        const { client } = server();
        const name = `first-${Math.random().toString(36).slice(2)}`;
        const path = `/api/v1/${resource}`;
        const kind = { nodes: 'Node', persistentvolumes: 'PersistentVolume', namespaces: 'Namespace' }[resource];
        const body = { apiVersion: 'v1', kind, ...WITH_STATUS[resource]?.body, metadata: { name }, status };
        const reply =
          way === 'POST'
            ? await client.post(`${path}?fieldManager=m`, body)
            : await client.patch(`${path}/${name}?fieldManager=m`, body, 'application/apply-patch+yaml');
        const object = created(reply);
        const { phase, capacity, message } = object.status as Record<string, unknown>;
        const members = Object.entries({ phase, capacity, message }).filter(([, value]) => value !== undefined);
        assert.deepEqual(Object.fromEntries(members), kept);
        assert.ok(!fieldsOf(object, 'm').includes('f:status'));
      });
    }
  }
});
