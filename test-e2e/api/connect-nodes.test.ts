import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { makeCertificates, type Certificates } from '../../services/storage/testing/certificates.js';
import {
  type Server,
  FLAGS,
  podsIn,
  runningPod,
  withTarget,
  seenBy,
  openRequest,
  WEBSOCKET,
  SPDY,
  podOnNode,
} from './tools/connecting.js';
import { eventually, ok, refused } from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer } from './tools/server.js';
import { deadPort, httpTarget, ownAddress } from './tools/targets.js';

function nodes(server: Server): void {
  let files: Certificates;
  before(() => {
    files = makeCertificates();
  });
  after(() => files.remove());

  it('are proxied to their agent, or to another of their ports', async () => {
    const { client } = server();
    const [agent, other] = [await httpTarget({ files: files.server }), await httpTarget()];
    try {
      const { node } = await podOnNode(client, agent);
      for (const name of [node, `${node}:${agent.port}`, `https:${node}:`]) {
        assert.equal(
          seenBy(await client.get(`/api/v1/nodes/${name}/proxy/stats/summary?x=1`)).url,
          '/stats/summary?x=1',
        );
      }
      refused(await client.get(`/api/v1/nodes/${node}:${other.port}/proxy/`), 400, 'BadRequest', /address not allowed/);
      const addresses = [{ type: 'ExternalIP', address: ownAddress() }];
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses } }));
      assert.equal(seenBy(await client.get(`/api/v1/nodes/http:${node}:${other.port}/proxy/a`)).url, '/a');
      ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses: [] } }));
      refused(await client.get(`/api/v1/nodes/${node}/proxy/`), 503, 'ServiceUnavailable', /no preferred addresses/);
      refused(await client.get('/api/v1/nodes/nobody/proxy/'), 404, 'NotFound', /nodes "nobody" not found/);
    } finally {
      await Promise.all([agent.close(), other.close()]);
    }
  });

  it('tell the logs of containers', async () => {
    const { client } = server();
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.end('line 1\nline 2\n');
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path, namespace } = await podOnNode(client, agent);
      const options = 'follow=true&previous=true&timestamps=1&tailLines=0&limitBytes=10&sinceTime=2006-01-02T15:04:05Z';
      const reply = await client.get(`${path}/log?${options}&pretty=1&bogus=1`, { accept: 'application/json, */*' });
      assert.deepEqual(
        [reply.code, reply.text, reply.headers['content-type']],
        [200, 'line 1\nline 2\n', 'text/plain'],
      );
      const [seen] = agent.seen;
      assert.equal(seen?.url, `/containerLogs/${namespace}/p/main?follow=true&limitBytes=10&previous=true&sinceTime=2006-01-02T15%3A04%3A05Z&tailLines=0&timestamps=true`); // prettier-ignore
      assert.deepEqual(Object.keys(seen.headers), ['host', 'connection']);
      ok(await client.get(`${path}/log`));
      assert.equal(agent.seen[1]?.url, `/containerLogs/${namespace}/p/main`);
    });
  });

  it('give logs on line by line, until the client has enough', async () => {
    const { client } = server();
    let held: ServerResponse | undefined;
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void (held = res);
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path } = await podOnNode(client, agent);
      const { req, res } = await openRequest(client, 'GET', `${path}/log?follow=true`);
      req.end();
      await eventually(() => Promise.resolve(held));
      held?.write('one\n');
      const reply = await res;
      const [line] = (await once(reply, 'data')) as [Buffer];
      assert.equal(line.toString(), 'one\n');
      req.destroy();
      await eventually(() => Promise.resolve(agent.sockets.size === 0 ? true : undefined));
    });
  });

  it('have their refusals of logs told', async () => {
    const { client } = server();
    const answer = (req: IncomingMessage, res: ServerResponse): void => {
      res.statusCode = Number(/tailLines=(\d+)/.exec(req.url ?? '')?.[1]);
      if (res.statusCode === 302) res.setHeader('Location', 'http://127.0.0.1/secret');
      res.end('container "main" is waiting');
    };
    await withTarget(await httpTarget({ files: files.server, answer }), async (agent) => {
      const { path } = await podOnNode(client, agent);
      refused(await client.get(`${path}/log?tailLines=400`), 400, 'BadRequest', /^container "main" is waiting$/);
      refused(await client.get(`${path}/log?tailLines=404`), 404, 'NotFound');
      refused(await client.get(`${path}/log?tailLines=500`), 500, 'InternalError', /container .*main.* is waiting/);
      refused(await client.get(`${path}/log?tailLines=302`), 502, 'InternalError');
    });
    const { path } = await podOnNode(client, { port: await deadPort() });
    refused(await client.get(`${path}/log`), 503, 'ServiceUnavailable', /connection refused/);
  });

  it('are not asked for logs that nobody can have', async () => {
    const { client } = server();
    await withTarget(await httpTarget({ files: files.server }), async (agent) => {
      const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
      const { path, namespace } = await podOnNode(client, agent, { containers, initContainers: [{ name: 'i', image: 'i' }] }); // prettier-ignore
      refused(await client.get(`${path}/log`), 400, 'BadRequest', /^a container name must be specified for pod p, choose one of: \[i a b\]$/); // prettier-ignore
      refused(await client.get(`${path}/log?container=c`), 400, 'BadRequest', /^container c is not valid for pod p$/);
      refused(await client.get(`${path}/log?container=a&tailLines=-1`), 422, 'Invalid', /tailLines: Invalid value: -1/);
      refused(await client.get(`${path}/log?container=a&limitBytes=0`), 422, 'Invalid', /must be greater than 0/);
      refused(await client.get(`${path}/log?container=a&sinceTime=2006-01-02T15:04:05Z&sinceSeconds=1`), 422, 'Invalid', /at most one of/); // prettier-ignore
      refused(await client.get(`${path}/log?container=a&sinceTime=yesterday`), 422, 'Invalid', /sinceTime/);
      refused(await client.get(`${path}x/log`), 404, 'NotFound');
      refused(await client.post(`${path}/log`, {}), 405, 'MethodNotAllowed');
      await runningPod(client, podsIn(namespace), 'lone', {});
      assert.equal((await client.get(`${podsIn(namespace)}/lone/log`)).code, 204);
      await runningPod(client, podsIn(namespace), 'lost', { spec: { nodeName: 'nobody' } });
      refused(await client.get(`${podsIn(namespace)}/lost/log`), 404, 'NotFound', /nodes "nobody" not found/);
      assert.deepEqual(agent.seen, []);
    });
  });

  for (const [word, query, asked] of [
    ['exec', 'command=sh&command=-c&command=a%20b%26c&stdin=true&stdout=1&stderr&tty=false&container=main', 'exec/NS/p/main?command=sh&command=-c&command=a+b%26c&error=1&input=1&output=1'], // prettier-ignore
    ['attach', 'stdout=true&tty=true', 'attach/NS/p/main?output=1&tty=1'],
    ['portforward', '', 'portForward/NS/p'],
    ['portforward', 'ports=80&ports=443', 'portForward/NS/p?port=80%2C443'],
  ] as const) {
    it(`have sessions: ${word}?${query}`, async () => {
      const { client } = server();
      await withTarget(await httpTarget({ files: files.server }), async (agent) => {
        const { path, namespace } = await podOnNode(client, agent);
        for (const [method, headers] of [
          ['POST', SPDY],
          ['GET', WEBSOCKET],
        ] as const) {
          const raw = await RawConnection.open(client);
          raw.send(requestHead(client, method, `${path}/${word}?${query}`, headers));
          await raw.until(/^HTTP\/1.1 101 [^]*hello;$/);
          raw.send('typed');
          await raw.until(/hello;typed$/);
          raw.destroy();
          const seen = agent.seen.at(-1)!;
          assert.deepEqual([seen.method, seen.url], [method, `/${asked.replace('NS', namespace)}`]);
          assert.equal(seen.headers.authorization, undefined);
        }
        assert.equal(agent.seen[0]?.headers['x-stream-protocol-version'], 'v4.channel.platform.io');
        await eventually(() => Promise.resolve(agent.sockets.size === 0 ? true : undefined));
      });
    });
  }

  it('have no sessions without another protocol, a container or a host, and none that lead elsewhere', async () => {
    const { client } = server();
    const upgrade = (_req: IncomingMessage, socket: Socket): void => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n');
    };
    await withTarget(await httpTarget({ files: files.server, upgrade }), async (agent) => {
      const { path, namespace } = await podOnNode(client, agent);
      for (const word of ['exec', 'attach', 'portforward']) {
        refused(await client.post(`${path}/${word}`, ''), 400, 'BadRequest', /^Upgrade request required$/);
        refused(await client.put(`${path}/${word}`, ''), 405, 'MethodNotAllowed');
      }
      refused(await client.get(`${path}/exec?container=x`), 400, 'BadRequest', /container x is not valid for pod p/);
      await runningPod(client, podsIn(namespace), 'lone', {});
      refused(await client.get(`${podsIn(namespace)}/lone/exec`), 400, 'BadRequest', /^pod lone does not have a host assigned$/); // prettier-ignore
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'POST', `${path}/exec`, SPDY));
      assert.match(await raw.closed, /^HTTP\/1.1 502 [^]*the backend attempted to redirect/);
    });
  });
}

onServer('nodes', { store: 'embedded', flags: FLAGS }, nodes);
