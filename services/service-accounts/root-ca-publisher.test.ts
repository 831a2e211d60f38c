import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openRootCaPublisher } from './root-ca-publisher.js';

const words = vocabulary('kubernetes');
const { namespaces, configMaps } = builtInTypes(words);
const never = new AbortController().signal;
const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const NAME = 'kube-root-ca.crt';

describe('the publisher of authorities', () => {
  const directory = mkdtempSync(join(tmpdir(), 'root-ca-'));
  const rootCaFile = join(directory, 'ca.crt');
  after(() => rmSync(directory, { recursive: true }));

  let cluster: FakeCluster;
  const open = (o = { rootCaFile }): Controller =>
    openRootCaPublisher(o, cluster.deps('kubernetes')) ?? assert.fail('it does not run');
  const published = (namespace: string): unknown => cluster.get(configMaps, `${namespace}/${NAME}`)?.data;
  beforeEach(() => {
    writeFileSync(rootCaFile, CA);
    cluster = new FakeCluster();
    for (const name of ['a', 'b']) cluster.put(namespaces, { metadata: { name } });
    cluster.put(namespaces, { metadata: { name: 'ending' }, status: { phase: 'Terminating' } });
  });

  it('publishes them to each active namespace, once', async () => {
    const controller = open();
    await cluster.settle(controller);
    assert.deepEqual(published('a'), { 'ca.crt': CA });
    assert.deepEqual(published('b'), { 'ca.crt': CA });
    assert.equal(published('ending'), undefined);
    const asked = cluster.asked.length;
    for (const name of ['a', 'b']) await controller.reconcile(name, never);
    assert.equal(cluster.asked.length, asked);
  });

  for (const [what, present] of [
    ['other certificates', { data: { 'ca.crt': 'mine' } }],
    ['more beside them', { data: { 'ca.crt': CA, mine: 'x' } }],
    ['nothing', {}],
    ['binary data', { data: { 'ca.crt': CA }, binaryData: { mine: 'eA==' } }],
  ] as const) {
    it(`puts a config map right that has ${what}`, async () => {
      cluster.put(configMaps, { metadata: { name: NAME, namespace: 'a', labels: { my: 'own' } }, ...present });
      await cluster.settle(open());
      const { data, binaryData, metadata } = cluster.get(configMaps, `a/${NAME}`) ?? assert.fail();
      assert.deepEqual([data, binaryData, metadata.labels], [{ 'ca.crt': CA }, undefined, { my: 'own' }]);
    });
  }

  it('says on it to people what it is for, in their words where there are some', async () => {
    const said = (namespace: string): string | undefined =>
      cluster.get(configMaps, `${namespace}/${NAME}`)?.metadata.annotations?.[words.annotations.description];
    const metadata = { name: NAME, namespace: 'a', annotations: { [words.annotations.description]: 'ours' } };
    cluster.put(configMaps, { metadata, data: { 'ca.crt': 'mine' } });
    cluster.put(configMaps, { metadata: { name: NAME, namespace: 'b' }, data: { 'ca.crt': CA } });
    await cluster.settle(open());
    assert.equal(said('a'), 'ours');
    assert.match(said('b') ?? '', /^The certificates by which /);
    assert.deepEqual(published('a'), { 'ca.crt': CA });
  });

  it('makes it again when it is deleted, and minds no other config map', async () => {
    const controller = open();
    await cluster.settle(controller);
    cluster.put(configMaps, { metadata: { name: 'other', namespace: 'a' }, data: {} });
    assert.equal(cluster.queued.size, 0);
    cluster.remove(configMaps, `a/${NAME}`);
    await cluster.settle(controller);
    assert.deepEqual(published('a'), { 'ca.crt': CA });
  });

  for (const [reason, causes] of [
    ['AlreadyExists', []],
    ['Conflict', []],
    ['NotFound', []],
    ['Forbidden', ['NamespaceTerminating']],
  ] as const) {
    it(`is done when the server answers ${[reason, ...causes].join(', ')}`, async () => {
      const controller = open();
      cluster.refuse(/^create/, reason, causes);
      assert.equal(await controller.reconcile('a', never), undefined);
    });
  }

  it('tries again after anything else', async () => {
    const controller = open();
    cluster.refuse(/^create/, 'Forbidden');
    await assert.rejects(controller.reconcile('a', never), /Forbidden/);
  });

  it('does not run without certificates', () => {
    assert.equal(openRootCaPublisher({ rootCaFile: '' }, cluster.deps()), undefined);
    assert.equal(cluster.warnings.length, 1);
    writeFileSync(rootCaFile, 'nothing of the kind');
    assert.throws(() => open(), /holds no certificate in PEM/);
    assert.throws(() => open({ rootCaFile: join(directory, 'none') }));
  });

  it("publishes what the process's client trusts where no file is named", async () => {
    const controller = openRootCaPublisher({ rootCaFile: '' }, { ...cluster.deps('kubernetes'), authorities: CA });
    await cluster.settle(controller ?? assert.fail('it does not run'));
    assert.deepEqual(published('a'), { 'ca.crt': CA });
  });
});
