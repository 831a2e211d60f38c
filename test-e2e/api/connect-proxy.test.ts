import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { makeCertificates } from '../../services/storage/testing/certificates.js';
import { type Server, FLAGS, podsIn, runningPod, withTarget, podAt, seenBy } from './tools/connecting.js';
import { created, newNamespace, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';
import { httpTarget, ownAddress } from './tools/targets.js';

function proxying(server: Server): void {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`passes on ${method} with path, query and body as they are`, async () => {
      const { client } = server();
      await withTarget(await httpTarget(), async (target) => {
        const path = await podAt(client, target);
        const tail = "/a%2Fb//c;d/%ff/%zz/../x'?q=%20+&q=2&watch=1&=";
        const body = method === 'GET' || method === 'HEAD' ? {} : { body: `${method}-body`, type: 'text/plain' };
        const reply = await client.request(method, `${path}/proxy${tail}`, body);
        assert.equal(reply.code, 200, reply.text);
        const [seen] = target.seen;
        assert.deepEqual([seen?.method, seen?.url, seen?.body], [method, tail, body.body ?? '']);
        if (method !== 'HEAD') assert.deepEqual(JSON.parse(reply.text), seen);
      });
    });
  }

  it('tells the target who is proxied, and nothing that a client proves itself with', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const { headers } = seenBy(
        await client.get(`${path}/proxy/x?y`, {
          'x-forwarded-for': '10.9.9.9',
          'x-forwarded-host': 'elsewhere',
          'x-remote-user': 'admin',
          forwarded: 'for=10.9.9.9',
          te: 'trailers',
          'proxy-authorization': 'Basic Zm9v',
          'keep-alive': 'timeout=5',
          connection: 'keep-alive, x-hop',
          'x-hop': '1',
          'x-custom': 'kept',
          cookie: 'a=b',
          'sec-websocket-protocol': 'base64url.bearer.authorization.platform.io.dG9rZW4, chat',
        }),
      );
      assert.equal(headers['x-custom'], 'kept');
      assert.equal(headers.cookie, 'a=b');
      assert.equal(headers['x-forwarded-for'], '127.0.0.1');
      assert.equal(headers['x-forwarded-uri'], `${path}/proxy/x`);
      assert.equal(headers.host, client.url.host);
      assert.equal(headers['sec-websocket-protocol'], 'chat');
      const gone = ['authorization', 'x-forwarded-host', 'x-remote-user', 'forwarded', 'te', 'proxy-authorization', 'keep-alive', 'x-hop']; // prettier-ignore
      for (const name of gone) assert.equal(headers[name], undefined, name);
    });
  });

  it('gives the answer back, without what belongs to a connection or to this server', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(418, {
        'Set-Cookie': ['a=1', 'b=2'],
        'Access-Control-Allow-Origin': '*',
        'Keep-Alive': 'timeout=1',
        'X-Own': 'yes',
      });
      res.end('short and stout');
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const { code, text, headers } = await client.get(`${await podAt(client, target)}/proxy/`);
      assert.deepEqual([code, text, headers['x-own']], [418, 'short and stout', 'yes']);
      assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
      assert.equal(headers['access-control-allow-origin'], undefined);
    });
  });

  it('leads from the bare proxy to its root, and redirects of the target through the proxy', async () => {
    const { client } = server();
    const answer = (req: IncomingMessage, res: ServerResponse): void => {
      res.writeHead(302, { Location: Buffer.from((req.url ?? '').slice(2), 'base64url').toString() });
      res.end();
    };
    await withTarget(await httpTarget({ answer }), async (target) => {
      const path = await podAt(client, target);
      const bare = await client.get(`${path}/proxy?a=b`);
      assert.deepEqual([bare.code, bare.headers.location], [301, `${path}/proxy/?a=b`]);
      const own = `${ownAddress()}:${target.port}`;
      for (const [from, to] of [
        ['/login?x#y', `${path}/proxy/login?x#y`],
        [`http://${own}/login`, `${path}/proxy/login`],
        [`http://${own}`, `${path}/proxy/`],
        [`//${client.url.host}/login`, `${path}/proxy/login`],
        [`${path}/proxy/there`, `${path}/proxy/there`],
        ['next', 'next'],
        ['http://example.com/login', 'http://example.com/login'],
      ] as const) {
        const reply = await client.get(`${path}/proxy/?${Buffer.from(from).toString('base64url')}`);
        assert.deepEqual([reply.code, reply.headers.location], [302, to]);
      }
    });
  });

  it('finds the port by number, by name and by itself, and speaks TLS where it is asked to', async () => {
    const { client } = server();
    const files = makeCertificates();
    const [plain, tls] = [await httpTarget(), await httpTarget({ files: files.stranger })];
    try {
      const path = podsIn(await newNamespace(client));
      const ports = [
        { name: 'web', containerPort: plain.port },
        { name: 'tls', containerPort: tls.port },
      ];
      await runningPod(client, path, 'p', { ports });
      for (const name of [
        'p',
        'p:',
        'p:web',
        `p:${plain.port}`,
        'http:p:web',
        ':p:web',
        'https:p:tls',
        `https:p:${tls.port}`,
      ]) {
        assert.equal(seenBy(await client.get(`${path}/${name}/proxy/it`)).url, '/it', name);
      }
      assert.equal(seenBy(await client.get(`${path}/https%3Ap%3Atls/proxy/it`)).url, '/it');
      refused(await client.get(`${path}/ftp:p:web/proxy/`), 400, 'BadRequest', /invalid pod request "ftp:p:web"/);
      refused(await client.get(`${path}/a:b:c:d/proxy/`), 400, 'BadRequest', /invalid pod request/);
      refused(await client.get(`${path}/p:nothing/proxy/`), 503, 'ServiceUnavailable', /unknown port "nothing"/);
      refused(await client.get(`${path}/q/proxy/`), 404, 'NotFound', /pods "q" not found/);
      refused(
        await client.get(`${path}/http:p:tls/proxy/`),
        503,
        'ServiceUnavailable',
        /error trying to reach service/,
      );
      refused(
        await client.get(`${path}/https:p:web/proxy/`),
        503,
        'ServiceUnavailable',
        /error trying to reach service/,
      );
    } finally {
      await Promise.all([plain.close(), tls.close()]);
      files.remove();
    }
  });

  for (const ip of ['127.0.0.1', '169.254.169.254', '0.0.0.0', '::1', 'fe80::1', '::ffff:127.0.0.1']) {
    it(`never connects to ${ip} for a client`, async () => {
      const { client } = server();
      await withTarget(await httpTarget(), async (target) => {
        const reply = await client.get(`${await podAt(client, target, ip)}/proxy/`);
        refused(reply, 400, 'BadRequest', /address not allowed/);
        assert.equal(target.sockets.size, 0);
      });
    });
  }

  it('refuses a pod that has no address', async () => {
    const { client } = server();
    const path = podsIn(await newNamespace(client));
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    created(await client.post(path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }));
    refused(await client.get(`${path}/p/proxy/`), 400, 'BadRequest', /address not allowed/);
  });

  it('refuses who may not, and what is no method of a proxy', async () => {
    const { client } = server();
    await withTarget(await httpTarget(), async (target) => {
      const path = await podAt(client, target);
      const anonymous = await client.request('GET', `${path}/proxy/`, { headers: { authorization: '' } });
      refused(anonymous, 403, 'Forbidden', /cannot get resource "pods\/proxy"/);
      const wrong = await client.request('GET', `${path}/proxy/`, { headers: { authorization: 'Bearer wrong' } });
      refused(wrong, 401, 'Unauthorized');
      refused(await client.request('PROPFIND', `${path}/proxy/`), 501, 'NotImplemented');
      refused(await client.request('OPTIONS', `${path}/exec`), 405, 'MethodNotAllowed');
      refused(await client.get(`${path}/exec/more`), 404, 'NotFound');
      assert.deepEqual(target.seen, []);
    });
  });
}

onServer('the proxy', { store: 'embedded', flags: FLAGS }, proxying);
