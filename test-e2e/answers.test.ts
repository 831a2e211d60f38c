import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { request as httpsRequest } from 'node:https';
import { client, credentialsOf, type Client } from './support/client.js';
import { startPlatform, type Running } from './support/platform.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe('answers', function () {
  this.timeout(90_000);
  let server: Running;
  let api: Client;

  before(async () => {
    server = await startPlatform();
    api = client(server);
    for (const name of ['a', 'b'])
      await api.post(CONFIG_MAPS, { metadata: { name }, data: { x: 'y'.repeat(200_000) } });
  });
  after(async () => {
    api.close();
    await server.stop();
  });

  const bytes = (
    path: string,
    headers: Record<string, string>,
  ): Promise<[headers: Record<string, unknown>, body: Buffer]> =>
    new Promise((resolve, reject) => {
      const { ca, cert, key } = credentialsOf(server.kubeconfig);
      const req = httpsRequest(new URL(path, server.url), { ca, cert, key, headers }, (res) => {
        const parts: Buffer[] = [];
        res.on('data', (part: Buffer) => parts.push(part));
        res.on('end', () => resolve([res.headers, Buffer.concat(parts)]));
      });
      req.on('error', reject).end();
    });

  it('are compressed when they are long and the client can', async () => {
    const [headers, body] = await bytes(CONFIG_MAPS, { 'accept-encoding': 'gzip' });
    assert.equal(headers['content-encoding'], 'gzip');
    assert.ok(body.length < 20_000);
    const [plainHeaders, plain] = await bytes(CONFIG_MAPS, {});
    assert.equal(plainHeaders['content-encoding'], undefined);
    assert.deepEqual(gunzipSync(body), plain);
  });

  it('are left alone when they are short', async () => {
    const [headers] = await bytes('/api/v1/namespaces/default', { 'accept-encoding': 'gzip' });
    assert.equal(headers['content-encoding'], undefined);
  });

  it('are easy on the eye with `pretty`, and mean the same', async () => {
    const [compact, pretty] = [await api.get('/api/v1/namespaces'), await api.get('/api/v1/namespaces?pretty=true')];
    assert.match(pretty.text, /\n {2}"kind": "NamespaceList"/);
    assert.deepEqual(pretty.json(), compact.json());
    assert.equal((await api.get('/api/v1/namespaces?pretty=false')).text, compact.text);
  });

  it('are YAML for those who ask for it', async () => {
    const { text, headers } = await api.request('GET', '/api/v1/namespaces/default', {
      headers: { accept: 'application/yaml' },
    });
    assert.equal(headers['content-type'], 'application/yaml');
    assert.match(text, /^kind: Namespace$/m);
  });

  it('have a length and no body for HEAD', async () => {
    for (const path of [CONFIG_MAPS, `${CONFIG_MAPS}/a`]) {
      const [head, get] = [await api.request('HEAD', path), await api.get(path)];
      assert.deepEqual([head.status, head.text], [200, '']);
      assert.equal(head.headers['content-length'], String(Buffer.byteLength(get.text)));
    }
  });

  describe('to bodies with unknown fields', () => {
    const body = { metadata: { name: 'odd' }, bogus: 1, data: { k: 'v' } };
    const post = (mode: string): ReturnType<Client['post']> => api.post(`${CONFIG_MAPS}?dryRun=All${mode}`, body);

    it('warn, unless told otherwise', async () => {
      const answer = await post('');
      assert.deepEqual([answer.status, answer.headers['warning']], [201, '299 - "unknown field \\"bogus\\""']);
      assert.equal(answer.json()['bogus'], undefined);
    });

    it('say nothing with fieldValidation=Ignore', async () => {
      const answer = await post('&fieldValidation=Ignore');
      assert.deepEqual([answer.status, answer.headers['warning']], [201, undefined]);
    });

    it('refuse with fieldValidation=Strict', async () => {
      const answer = await post('&fieldValidation=Strict');
      assert.equal(answer.status, 400);
      assert.match(String(answer.json()['message']), /strict decoding error: unknown field "bogus"/);
    });

    it('refuse another mode', async () => {
      assert.equal((await post('&fieldValidation=Maybe')).status, 400);
    });

    it('let nothing of the name into a header that does not belong there', async () => {
      const answer = await api.post(`${CONFIG_MAPS}?dryRun=All`, {
        metadata: { name: 'odd' },
        'x"\r\nSet-Cookie: a': 1,
      });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers['set-cookie'], undefined);
      assert.doesNotMatch(String(answer.headers['warning']), /[\r\n]/);
    });
  });
});
