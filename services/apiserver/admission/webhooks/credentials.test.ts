import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as yaml from 'yaml';
import { ClientConfigError } from '../../../client/kubeconfig/member.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { parseDocument } from '../configuration.js';
import { ANONYMOUS, webhookUsers, type WebhookUsers } from './credentials.js';
import { clientConfigFileOf } from './plugin-configuration.js';

const words = vocabulary('platform');
const { signal } = new AbortController();

describe('webhookUsers()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'webhook-users-'));
  const file = join(directory, 'hooks.yaml');
  const logged: object[] = [];
  let now = 0;
  after(() => rmSync(directory, { recursive: true }));
  beforeEach(() => void logged.splice(0));

  const write = (...users: readonly (readonly [string, object])[]): void =>
    writeFileSync(file, JSON.stringify({ users: users.map(([name, user]) => ({ name, user })) }));
  const open = (): WebhookUsers =>
    webhookUsers(file, { vocabulary: words, now: () => now, log: { warn: (_, keys = {}) => void logged.push(keys) } });
  const header = async (users: WebhookUsers, target: string): Promise<string | undefined> => {
    const { credentials } = await users.of(target);
    return (await credentials.current(signal)).headers['authorization'];
  };
  const basic = (name: string): string => `Basic ${Buffer.from(`${name}:p`).toString('base64')}`;

  it('finds users by host and port, or the default', async () => {
    write(['a.b.svc', { token: 't1' }], ['*.b.svc:8443', { username: 'u', password: 'p' }], ['*', { token: 't2' }]);
    const users = open();
    assert.equal(await header(users, 'a.b.svc:443'), 'Bearer t1');
    assert.equal(await header(users, 'c.b.svc:8443'), basic('u'));
    assert.equal(await header(users, 'elsewhere:443'), 'Bearer t2');
  });

  it('gives nobody where none is named', async () => {
    write(['a.b.svc', { token: 't1' }]);
    assert.equal(await header(open(), 'c:443'), undefined);
    assert.equal(await header(ANONYMOUS, 'a.b.svc:443'), undefined);
  });

  it('keeps the identity of a user, and has one for each', async () => {
    write(['a', { token: 't1' }], ['b', { token: 't2' }]);
    const users = open();
    assert.equal(await users.of('a:443'), await users.of('a:443'));
    assert.notEqual((await users.of('a:443')).id, (await users.of('b:443')).id);
  });

  it('reads the file again when it has changed, as another identity', async () => {
    write(['a', { token: 't1' }]);
    const users = open();
    const before = await users.of('a:443');
    write(['a', { token: 'later' }]);
    assert.equal(await header(users, 'a:443'), 'Bearer t1', 'it is looked at every ten seconds');
    now += 10_000;
    assert.equal(await header(users, 'a:443'), 'Bearer later');
    assert.notEqual((await users.of('a:443')).id, before.id);
  });

  it('goes on with the last one when the file cannot be used, and says so once', async () => {
    write(['a', { token: 't1' }]);
    const users = open();
    writeFileSync(file, 'users: [');
    for (let i = 0; i < 3; i++) {
      now += 10_000;
      assert.equal(await header(users, 'a:443'), 'Bearer t1');
    }
    assert.equal(logged.length, 1);
  });

  it('refuses a file that cannot be used at the start, and credentials that need a server', () => {
    writeFileSync(file, 'users: {');
    assert.throws(open, ClientConfigError);
    write(['a', { username: 'x:y', password: 'p' }]);
    assert.throws(open, /must not hold a colon/);
    for (const member of ['exec', 'auth-provider']) {
      write(['a', { [member]: { name: 'oidc', apiVersion: 'v1', command: 'x' } }]);
      assert.throws(open, new RegExp(`${member}: is not supported here`));
    }
  });
});

describe('clientConfigFileOf()', () => {
  const of = (text: string): string | undefined =>
    clientConfigFileOf(parseDocument(yaml, text, '/etc/platform/admission.yaml'), words);
  const good = 'apiVersion: apiserver.config.platform.io/v1\nkind: WebhookAdmissionConfiguration\n';

  it('gives the file, from the directory of the document', () => {
    assert.equal(of(`${good}kubeConfigFile: hooks.yaml`), '/etc/platform/hooks.yaml');
    assert.equal(of(`${good}kubeConfigFile: /a/hooks.yaml`), '/a/hooks.yaml');
    const old = good.replace('apiserver.config.platform.io/v1', 'apiserver.platform.io/v1alpha1');
    assert.equal(of(`${old}kubeConfigFile: /a`), '/a');
  });

  it('gives none where none is named', () => {
    assert.equal(of(good), undefined);
    assert.equal(clientConfigFileOf(undefined, words), undefined);
  });

  for (const [text, why] of [
    [good.replace('WebhookAdmissionConfiguration', 'Other'), /line 2: kind/],
    [good.replace('/v1', '/v9'), /line 1: apiVersion/],
    [`${good}kubeconfigFile: x`, /line 3: kubeconfigFile: is unknown/],
    [`${good}kubeConfigFile: 1`, /line 3: kubeConfigFile: must be a string/],
    ['[]', /must be an object|apiVersion/],
  ] as const) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => of(text), why));
  }
});
