import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { renewals, type Change, type Files } from './renew.js';
import { wantedBy, type Hosts } from './wanted.js';

const NOW = new Date('2030-06-01T00:00:00Z');
const later = (days: number): Date => new Date(NOW.getTime() + days * 24 * 3_600_000);
const HOSTS: Hosts = { servers: ['api.example.com', '192.0.2.1'], etcd: ['etcd-0.etcd.svc'] };

describe('renewals()', () => {
  const wanted = wantedBy(vocabulary('kubernetes'), HOSTS);
  let sets: Map<string, Files>;
  const run = async (now = NOW, of = wanted): Promise<readonly Change[]> => {
    const changes = await renewals(of, (name) => sets.get(name), now);
    for (const { name, files } of changes) sets.set(name, files);
    return changes;
  };
  const names = (changes: readonly Change[]): string[] => changes.map(({ name }) => name);
  const file = (set: string, name: string): string => sets.get(set)?.[name] ?? assert.fail(`no ${set}/${name}`);
  const cert = (set: string): X509Certificate => new X509Certificate(file(set, 'tls.crt'));
  const put = (set: string, files: Files): void => void sets.set(set, { ...sets.get(set), ...files });

  beforeEach(async () => {
    sets = new Map();
    await run();
  });

  it('makes everything once, authorities first', async () => {
    sets.clear();
    const made = names(await run());
    assert.deepEqual(made.slice(0, 3), ['ca', 'etcd-ca', 'front-proxy-ca']);
    assert.equal(made.length, 3 + 1 + 11);
    assert.deepEqual(await run(), []);
  });

  it('makes certificates for whom they are meant, signed by whom they should be', () => {
    for (const { name, authority } of wanted.leaves) {
      assert.ok(cert(name).verify(cert(authority).publicKey), name);
      assert.equal(file(name, 'ca.crt'), file(authority, 'tls.crt'));
    }
    assert.equal(cert('admin').subject, 'O=system:masters\nCN=admin');
    assert.equal(cert('token-cleaner').subject, 'CN=system:kube-token-cleaner');
    const server = cert('apiserver');
    for (const host of ['localhost', 'kubernetes.default.svc.cluster.local', 'api.example.com']) {
      assert.ok(server.checkHost(host), host);
    }
    assert.ok(server.checkIP('192.0.2.1'));
    assert.deepEqual(cert('etcd-server').keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    assert.deepEqual(cert('etcd-client').keyUsage, ['1.3.6.1.5.5.7.3.2']);
  });

  it('makes nothing for an etcd of somebody else', () => {
    const { authorities, leaves } = wantedBy(vocabulary('platform'), { ...HOSTS, etcd: [] });
    assert.deepEqual(
      [...authorities, ...leaves.map(({ name }) => name)].filter((it) => it.startsWith('etcd')),
      [],
    );
  });

  it('renews certificates with less than a third of their life left, with new keys, and keeps what others depend on', async () => {
    const before = new Map(sets);
    assert.deepEqual(await run(later(243)), []);
    assert.deepEqual(names(await run(later(244))), wanted.leaves.map(({ name }) => name)); // prettier-ignore
    for (const { name } of wanted.leaves) assert.notEqual(sets.get(name)?.['tls.key'], before.get(name)?.['tls.key']);
    for (const name of ['ca', 'etcd-ca', 'front-proxy-ca', 'service-account']) {
      assert.deepEqual(sets.get(name), before.get(name));
    }
  });

  it('renews an authority with the key that it has, so that what it signed stays good', async () => {
    await run(later(2430)); // certificates are new, and their authorities old
    const [old, key] = [cert('ca'), file('ca', 'tls.key')];
    const changes = await run(later(2440));
    const first = changes.find(({ name }) => name === 'admin');
    assert.deepEqual(names(changes).slice(0, 3), ['ca', 'etcd-ca', 'front-proxy-ca']);
    assert.equal(file('ca', 'tls.key'), key);
    assert.notEqual(cert('ca').fingerprint256, old.fingerprint256);
    assert.match(first?.why ?? '', /authority has a new certificate/);
    assert.equal(file('admin', 'ca.crt'), file('ca', 'tls.crt'));
    assert.ok(cert('admin').verify(old.publicKey) && cert('admin').checkIssued(cert('ca')));
  });

  for (const [what, spoil] of [
    ['a set that is missing', () => void sets.delete('admin')],
    ['a key of another certificate', () => put('admin', { 'tls.key': file('etcd-client', 'tls.key') })],
    ['a certificate of somebody else', () => put('admin', sets.get('token-cleaner') ?? {})],
    ['a certificate of another authority', () => put('admin', sets.get('front-proxy-client') ?? {})],
    ['what is no certificate', () => put('admin', { 'tls.crt': 'x' })],
  ] as const)
    it(`makes anew ${what}, and nothing else`, async () => {
      spoil();
      assert.deepEqual(names(await run()), ['admin']);
      assert.equal(cert('admin').subject, 'O=system:masters\nCN=admin');
    });

  it('makes a certificate anew for a host that it lacks', async () => {
    const more = wantedBy(vocabulary('kubernetes'), { ...HOSTS, servers: [...HOSTS.servers, 'new.example.com'] });
    assert.deepEqual(names(await run(NOW, more)), ['apiserver']);
    assert.ok(cert('apiserver').checkHost('new.example.com'));
  });

  it('makes the certificate of an authority whose key is there', async () => {
    const key = file('ca', 'tls.key');
    sets.set('ca', { 'tls.key': key });
    await run();
    assert.equal(file('ca', 'tls.key'), key);
    assert.ok(cert('ca').publicKey.equals(createPublicKey(key)));
  });

  for (const [what, set, files, why] of [
    ['an authority without its key', 'ca', { 'tls.key': undefined }, /set ca cannot be used: it has no key/],
    ['an authority whose key is none', 'ca', { 'tls.key': 'secret' }, /set ca cannot be used: its key cannot be read/],
    ['an authority whose certificate is none', 'ca', { 'tls.crt': 'x' }, /ca cannot be used: its certificate/],
    [
      'a key of service accounts that is none',
      'service-account',
      { 'tls.key': 'secret' },
      /set service-account cannot/,
    ],
  ] as const)
    it(`leaves ${what} to a person`, async () => {
      const entries = Object.entries({ ...sets.get(set), ...files }).filter(([, text]) => text !== undefined);
      sets.set(set, Object.fromEntries(entries) as Files);
      await assert.rejects(run(), (err: Error) => why.test(err.message) && !err.message.includes('secret'));
    });

  it('tells an authority from another one with the same key pair mixed up', async () => {
    put('ca', { 'tls.key': file('etcd-ca', 'tls.key') });
    await assert.rejects(run(), /do not belong together/);
  });
});
