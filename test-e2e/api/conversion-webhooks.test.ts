import assert from 'node:assert/strict';
import { TestAuthority } from '../../services/client/testing/certificates.js';
import { ConvertingHook, versionsWith, type VersionName } from './tools/converting-hook.js';
import { define, newGroup } from './tools/definitions.js';
import type { Document } from './tools/document.js';
import { created, newNamespace, ok } from './tools/objects.js';
import { onServer } from './tools/server.js';

const APPLY = 'application/apply-patch+yaml';
const specOf = (object: Document): Record<string, unknown> => object['spec'];
const labelsOf = ({ metadata }: Document): unknown => metadata['labels'];

onServer('custom resources that a webhook converts', { store: 'embedded' }, (server) => {
  const authority = new TestAuthority('converters');
  let hook: ConvertingHook;
  let group: string;
  let at: (version: VersionName, name?: string) => string;

  before(async () => {
    hook = await ConvertingHook.start(authority);
    group = newGroup();
    const { client } = server();
    const path = await define(client, group, { versions: versionsWith('v1') as never, conversion: hook.conversion() });
    const namespace = await newNamespace(client);
    at = (version, name) => path(namespace, version) + (name === undefined ? '' : `/${name}`);
  });
  after(async () => {
    await hook.service.close();
    authority.remove();
  });
  beforeEach(() => hook.reset());

  const body = (version: VersionName, name: string, spec: object, more: object = {}): object => ({
    apiVersion: `${group}/${version}`,
    kind: 'Widget',
    metadata: { name },
    spec,
    ...more,
  });
  const make = async (version: VersionName, name: string, spec: object): Promise<Document> =>
    created(await server().client.post(at(version), body(version, name, spec)));

  it('are written and read in every version', async () => {
    const { client } = server();
    const made = await make('v2', 'a', { host: 'h', port: 1, count: 2 });
    assert.equal(made['apiVersion'], `${group}/v2`);
    assert.deepEqual(specOf(made), { count: 2, host: 'h', note: 'of v1', port: 1 });
    const v1 = ok(await client.get(at('v1', 'a')));
    assert.deepEqual(specOf(v1), { hostPort: 'h:1', note: 'of v1', replicas: 2 });
    assert.deepEqual([v1['apiVersion'], labelsOf(v1), v1.metadata.generation], [`${group}/v1`, { shape: 'v1' }, 1]);
    const v3 = ok(await client.get(at('v3', 'a')));
    assert.deepEqual(specOf(v3), { count: 2, endpoint: { host: 'h', port: 1 }, note: 'of v1', tier: 'usual' });
    assert.deepEqual(
      [v3.metadata.uid, v3.metadata.resourceVersion],
      [made.metadata.uid, made.metadata.resourceVersion],
    );
    assert.deepEqual(labelsOf(v3), { shape: 'v3' });
    assert.ok(APPLY);
  });
});
