import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import type { Secret } from '../machinery/types/generated/core.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openTokenSecrets } from './token-secrets.js';

const words = vocabulary('platform');
const { secrets, serviceAccounts } = builtInTypes(words);
const NAME = words.annotations.serviceAccountName;
const UID = words.annotations.serviceAccountUid;
const type = words.secretTypes.serviceAccountToken;
const never = new AbortController().signal;

describe('the controller of token secrets', () => {
  const directory = mkdtempSync(join(tmpdir(), 'token-secrets-'));
  const keyFile = join(directory, 'sa.key');
  const caFile = join(directory, 'ca.crt');
  before(() => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(caFile, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  });
  after(() => rmSync(directory, { recursive: true }));

  let cluster: FakeCluster;
  let controller: Controller;
  const open = (gates: readonly [string, string][] = []): Controller => {
    const o = {
      serviceAccountPrivateKeyFile: keyFile,
      rootCaFile: caFile,
      concurrentServiceAccountTokenSyncs: 3,
      featureGates: new Map(gates),
    };
    return openTokenSecrets(o, cluster.deps()) ?? assert.fail('it does not run');
  };
  beforeEach(() => {
    cluster = new FakeCluster();
    controller = open();
  });

  const account = (name = 'robot', more: object = {}): ReturnType<typeof cluster.put> =>
    cluster.put(serviceAccounts, { metadata: { name, namespace: 'ns' }, ...more });
  const tokenSecret = (name: string, annotations: Record<string, string>): ReturnType<typeof cluster.put> =>
    cluster.put(secrets, { metadata: { name, namespace: 'ns', annotations }, type });
  const referencesOf = (name = 'robot'): readonly (string | undefined)[] =>
    (cluster.get(serviceAccounts, `ns/${name}`)?.secrets ?? []).map((it) => it.name);
  const namesOfSecrets = (): readonly string[] => cluster.list(secrets).map(({ metadata }) => metadata.name);
  const writes = (): readonly string[] => cluster.asked.filter((it) => !it.startsWith('get '));

  it('does not run without a key', () => {
    const o = { serviceAccountPrivateKeyFile: '', rootCaFile: caFile, concurrentServiceAccountTokenSyncs: 1, featureGates: new Map() }; // prettier-ignore
    assert.equal(openTokenSecrets(o, cluster.deps()), undefined);
    assert.equal(cluster.warnings.length, 1);
    assert.throws(
      () => openTokenSecrets({ ...o, serviceAccountPrivateKeyFile: caFile }, cluster.deps()),
      /Cannot use .*ca\.crt to sign tokens: there is no private key in PEM/,
    );
  });

  it('makes one Secret for an account, with all that belongs there, and refers to it', async () => {
    const { metadata } = account();
    await cluster.settle(controller);
    const [made, ...others] = cluster.list(secrets);
    assert.equal(others.length, 0);
    assert.equal(made?.type, type);
    assert.deepEqual(made.metadata.annotations, { [NAME]: 'robot', [UID]: metadata.uid });
    assert.deepEqual(Object.keys(made.data ?? {}).sort(), ['ca.crt', 'namespace', 'token']);
    assert.deepEqual(referencesOf(), [made.metadata.name]);
    assert.deepEqual(writes(), [`create secrets ns/${made.metadata.name}`, 'update serviceaccounts ns/robot']);
  });

  it('makes none where that is turned off, and still fills those that are asked for', async () => {
    controller = open([['LegacyServiceAccountTokenNoAutoGeneration', 'true']]);
    account();
    tokenSecret('mine', { [NAME]: 'robot' });
    await cluster.settle(controller);
    assert.deepEqual(namesOfSecrets(), ['mine']);
    assert.notEqual(cluster.get(secrets, 'ns/mine')?.data?.['token'], undefined);
    assert.deepEqual(referencesOf(), []);
  });

  it('makes no second one while informers know nothing of the first', async () => {
    cluster.isLagging = true;
    const stale = account();
    cluster.catchUp();
    await cluster.settle(controller);
    cluster.queued.add('account/ns/robot');
    await controller.reconcile('account/ns/robot', never);
    assert.equal(namesOfSecrets().length, 1);
    assert.notEqual(cluster.get(serviceAccounts, 'ns/robot')?.metadata.resourceVersion, stale.metadata.resourceVersion);
  });

  it('takes its Secret back when the account cannot refer to it', async () => {
    account();
    cluster.refuse(/^update serviceaccounts/, 'Conflict');
    cluster.queued.delete('account/ns/robot');
    const again = await controller.reconcile('account/ns/robot', never);
    assert.equal(again === undefined, false);
    assert.deepEqual(namesOfSecrets(), []);
    cluster.refuse(/^update serviceaccounts/, 'InternalError');
    await assert.rejects(controller.reconcile('account/ns/robot', never), /InternalError/);
    assert.deepEqual(namesOfSecrets(), []);
  });

  it('refers to what a process left behind that ended in between', async () => {
    const { metadata } = account();
    tokenSecret('robot-token-abcde', { [NAME]: 'robot', [UID]: metadata.uid });
    tokenSecret('mine', { [NAME]: 'robot', [UID]: metadata.uid });
    await cluster.settle(controller);
    assert.deepEqual(referencesOf(), ['robot-token-abcde']);
    assert.deepEqual([...namesOfSecrets()].sort(), ['mine', 'robot-token-abcde']);
  });

  it('makes another one, and drops the reference, when a Secret is deleted', async () => {
    account();
    await cluster.settle(controller);
    const [first = ''] = namesOfSecrets();
    cluster.remove(secrets, `ns/${first}`);
    await cluster.settle(controller);
    const [second = ''] = namesOfSecrets();
    assert.notEqual(second, first);
    assert.deepEqual(referencesOf(), [second]);
  });

  it('drops references to what was deleted while no process ran, and keeps those to other secrets', async () => {
    account('robot', { secrets: [{ name: 'robot-token-zzzzz' }, { name: 'passwords' }] });
    await cluster.settle(controller);
    const [made] = namesOfSecrets();
    assert.deepEqual(referencesOf(), ['passwords', made]);
  });

  it('deletes the secrets of an account that is gone, and of one that came back as another', async () => {
    account();
    await cluster.settle(controller);
    tokenSecret('mine', { [NAME]: 'robot' });
    tokenSecret('of-another', { [NAME]: 'other', [UID]: 'x' });
    account('other');
    cluster.remove(serviceAccounts, 'ns/robot');
    await cluster.settle(controller);
    assert.equal(cluster.list(secrets).some(({ metadata }) => metadata.annotations?.[NAME] === 'robot'), false); // prettier-ignore
    assert.equal(namesOfSecrets().includes('of-another'), false);
    assert.equal(referencesOf('other').length, 1);
  });

  it('deletes nothing on the word of an informer that lags', async () => {
    cluster.isLagging = true;
    account();
    tokenSecret('mine', { [NAME]: 'robot' });
    await controller.reconcile('secret/ns/mine', never);
    assert.deepEqual(namesOfSecrets(), ['mine']);
  });

  it('deletes only the Secret that it has seen', async () => {
    tokenSecret('mine', { [NAME]: 'robot' });
    cluster.isLagging = true;
    cluster.remove(secrets, 'ns/mine');
    account();
    tokenSecret('mine', { [NAME]: 'robot' });
    cluster.refuse(/^get serviceaccounts/, 'NotFound');
    await controller.reconcile('secret/ns/mine', never);
    assert.deepEqual(namesOfSecrets(), ['mine']);
  });

  it('fills the newest state of a Secret, so that a token which is there stays', async () => {
    account('robot', { secrets: [{ name: 'mine' }] });
    tokenSecret('mine', { [NAME]: 'robot' });
    cluster.isLagging = true;
    const data = { token: 'bWluZQ==' };
    cluster.put(secrets, { metadata: { name: 'mine', namespace: 'ns', annotations: { [NAME]: 'robot' } }, type, data });
    await controller.reconcile('secret/ns/mine', never);
    assert.equal(cluster.get(secrets, 'ns/mine')?.data?.['token'], 'bWluZQ==');
    assert.notEqual(cluster.get(secrets, 'ns/mine')?.data?.['ca.crt'], undefined);
  });

  it('leaves alone what ends, and other secrets', async () => {
    account('robot', { metadata: { name: 'robot', namespace: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const ending = { name: 'mine', namespace: 'ns', annotations: { [NAME]: 'robot' }, deletionTimestamp: '2026-01-01T00:00:00Z' }; // prettier-ignore
    cluster.put(secrets, { metadata: ending, type });
    cluster.put(secrets, { metadata: { name: 'opaque', namespace: 'ns', annotations: { [NAME]: 'robot' } }, type: 'Opaque' }); // prettier-ignore
    await cluster.settle(controller);
    assert.deepEqual(writes(), []);
  });

  it('has nothing to do where a namespace ends', async () => {
    account();
    cluster.refuse(/^create secrets/, 'Forbidden', ['NamespaceTerminating']);
    cluster.queued.delete('account/ns/robot');
    assert.equal(await controller.reconcile('account/ns/robot', never), undefined);
    cluster.refuse(/^create secrets/, 'Forbidden');
    await assert.rejects(controller.reconcile('account/ns/robot', never), /Forbidden/);
  });

  it('holds a Secret against what it should be and writes only what differs', async () => {
    account();
    await cluster.settle(controller);
    const before = cluster.asked.length;
    const [name = ''] = namesOfSecrets();
    const stored = cluster.get(secrets, `ns/${name}`) as Secret;
    cluster.put(secrets, { ...stored, metadata: { ...stored.metadata, labels: { a: 'b' } } });
    await cluster.settle(controller);
    assert.deepEqual(cluster.asked.slice(before), []);
  });
});
