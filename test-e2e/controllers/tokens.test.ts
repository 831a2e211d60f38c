import assert from 'node:assert/strict';
import { compactVerify } from 'jose';
import { parse } from 'yaml';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { eventsIn, flagsFor, place, POLICY } from '../api/tools/audit.js';
import { eventually } from '../api/tools/objects.js';
import { client as adminOf, clientFor, credentialsOf, type Client } from '../support/client.js';
import { startPlatform, type Running } from '../support/platform.js';
import { removeDirectory } from '../support/scratch.js';

const words = vocabulary('platform');
const { system, public: publicOne } = words.namespaces;
const SECRETS = `/api/v1/namespaces/${system}/secrets`;
const CLUSTER_INFO = `/api/v1/namespaces/${publicOne}/configmaps/cluster-info`;
const SECRET = '0123456789abcdef';

type Data = Readonly<Record<string, string>>;

describe('bootstrap tokens', function () {
  this.timeout(60_000);
  const audit = place({ ...POLICY, rules: [{ level: 'Metadata' }] });
  let server: Running;
  let admin: Client;
  let anonymous: Client;
  let ca: string;
  before(async () => {
    server = await startPlatform({ controllers: ['tokencleaner', 'bootstrapsigner'], args: flagsFor(audit) });
    admin = adminOf(server);
    ca = credentialsOf(server.kubeconfig).ca;
    anonymous = clientFor(server.url, { ca });
  });
  after(async () => {
    for (const it of [admin, anonymous]) it.close();
    await server.stop();
    removeDirectory(audit.dir);
  });

  const token = (id: string, entries: Data = {}): object => ({
    metadata: { name: `bootstrap-token-${id}` },
    type: words.secretTypes.bootstrapToken,
    stringData: {
      'token-id': id,
      'token-secret': SECRET,
      'usage-bootstrap-signing': 'true',
      'usage-bootstrap-authentication': 'true',
      ...entries,
    },
  });
  const create = async (id: string, entries?: Data): Promise<void> =>
    assert.equal((await admin.post(SECRETS, token(id, entries))).status, 201);
  const inMs = (ms: number): Data => ({ expiration: new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '') });
  const isGone = async (id: string): Promise<true | undefined> =>
    (await admin.get(`${SECRETS}/bootstrap-token-${id}`)).status === 404 ? true : undefined;

  /** As a client reads it that trusts nobody yet. */
  const published = async (): Promise<Data> => {
    const answer = await anonymous.get(CLUSTER_INFO);
    if (answer.status === 404) return {};
    assert.equal(answer.status, 200, answer.text);
    return (answer.json()['data'] ?? {}) as Data;
  };
  const signature = (id: string): Promise<[text: string, jws: string]> =>
    eventually(async () => {
      const { kubeconfig = '', [`jws-kubeconfig-${id}`]: jws } = await published();
      return jws === undefined ? undefined : [kubeconfig, jws];
    });
  const unsigned = (id: string): Promise<true> =>
    eventually(async () => ((await published())[`jws-kubeconfig-${id}`] === undefined ? true : undefined));
  const verify = async ([text, jws]: readonly [string, string], key: string): Promise<object> => {
    const [header = '', middle, signed = ''] = jws.split('.');
    assert.equal(middle, '');
    const whole = `${header}.${Buffer.from(text).toString('base64url')}.${signed}`;
    return (await compactVerify(whole, Buffer.from(key), { algorithms: ['HS256'] })).protectedHeader;
  };

  it('let a client that trusts nobody yet verify whom to trust', async () => {
    await create('aaaaaa');
    const signed = await signature('aaaaaa');
    assert.deepEqual(await verify(signed, `aaaaaa.${SECRET}`), { alg: 'HS256', kid: 'aaaaaa' });
    await assert.rejects(verify(signed, `aaaaaa.${SECRET.replace('0', '1')}`));
    const { clusters } = parse(signed[0]) as { clusters: [{ cluster: Data }] };
    const [{ cluster }] = clusters;
    const authority = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64').toString();
    assert.equal(authority, ca);
    assert.equal(new URL(cluster['server'] ?? '').origin, server.url);
    const joined = clientFor(cluster['server'] ?? '', { ca: authority, token: `aaaaaa.${SECRET}` });
    assert.equal((await joined.get('/api')).status, 200);
    joined.close();
    assert.equal((await anonymous.get(`/api/v1/namespaces/${publicOne}/configmaps`)).status, 403);
    assert.equal((await anonymous.get(SECRETS)).status, 403);
  });

  it('are signed with while they are there and meant for it', async () => {
    await create('bbbbbb');
    await create('cccccc');
    await create('dddddd', { 'usage-bootstrap-signing': 'false' });
    await verify(await signature('bbbbbb'), `bbbbbb.${SECRET}`);
    await verify(await signature('cccccc'), `cccccc.${SECRET}`);
    assert.equal('jws-kubeconfig-dddddd' in (await published()), false);
    assert.equal((await admin.delete(`${SECRETS}/bootstrap-token-bbbbbb`)).status, 200);
    await unsigned('bbbbbb');
    const { status } = await admin.put(`${SECRETS}/bootstrap-token-cccccc`, token('cccccc', { 'usage-bootstrap-signing': 'false' })); // prettier-ignore
    assert.equal(status, 200);
    await unsigned('cccccc');
    await verify(await signature('aaaaaa'), `aaaaaa.${SECRET}`);
  });

  it('are deleted within seconds of their expiry, with their signature, and others stay', async () => {
    await create('eeeeee', inMs(3000));
    await create('ffffff', inMs(3_600_000));
    await signature('eeeeee');
    await eventually(() => isGone('eeeeee'));
    await unsigned('eeeeee');
    assert.equal(await isGone('ffffff'), undefined);
    await signature('ffffff');
    assert.equal((await admin.put(`${SECRETS}/bootstrap-token-ffffff`, token('ffffff', inMs(-1000)))).status, 200);
    await eventually(() => isGone('ffffff'));
    await unsigned('ffffff');
  });

  it('are deleted when nobody can tell the expiry', async () => {
    await create('gggggg', { expiration: 'tomorrow' });
    await eventually(() => isGone('gggggg'));
  });

  it('sign what others have published, which stays, and what was deleted is published anew', async () => {
    const object = (await admin.get(CLUSTER_INFO)).json();
    const data = { kubeconfig: 'theirs', more: 'kept' };
    assert.equal((await admin.put(CLUSTER_INFO, { ...object, metadata: { name: 'cluster-info' }, data })).status, 200);
    const [text, jws] = await signature('aaaaaa');
    assert.equal(text, 'theirs');
    await verify([text, jws], `aaaaaa.${SECRET}`);
    assert.equal((await published())['more'], 'kept');
    assert.equal((await admin.delete(CLUSTER_INFO)).status, 200);
    const [again] = await eventually(async () => {
      const found = await signature('aaaaaa');
      return found[0] === 'theirs' ? undefined : found;
    });
    assert.match(again, /certificate-authority-data/);
  });

  it('are kept with no request that is not needed', () => {
    const prefix = `system:serviceaccount:${system}:`;
    const used = eventsIn(audit.log).flatMap(({ verb, user, objectRef = {} }) => {
      const name = String(user['username']);
      const { namespace = '', resource = '' } = objectRef;
      return name.startsWith(prefix) ? [`${name.slice(prefix.length)} ${verb} ${resource} ${namespace}`] : [];
    });
    assert.deepEqual([...new Set(used)].sort(), [
      `bootstrap-signer create configmaps ${publicOne}`,
      `bootstrap-signer update configmaps ${publicOne}`,
      `token-cleaner delete secrets ${system}`,
    ]);
  });
});
