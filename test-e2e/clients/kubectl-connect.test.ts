import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { makeCertificates, type Certificates } from '../../services/storage/testing/certificates.js';
import { eventually } from '../api/tools/objects.js';
import { httpTarget, ownAddress, type Target } from '../api/tools/targets.js';
import { withKubectl } from './kubectl.js';

withKubectl(
  'is led',
  { vocabulary: 'kubernetes', store: 'embedded', flags: ['--nodeagent-allow-loopback'] },
  (client) => {
    let files: Certificates;
    let agent: Target;
    before(async () => {
      files = makeCertificates();
      const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.end('first\nsecond\n');
      agent = await httpTarget({ files: files.server, answer });
      const status = {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: agent.port } },
      };
      await client().ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })); // prettier-ignore
      await withStatus('/api/v1/nodes/n', status);
    });
    after(async () => {
      await agent.close();
      files.remove();
    });

    async function withStatus(path: string, status: object): Promise<void> {
      const object = JSON.parse(await client().ok(['get', '--raw', path])) as object;
      await client().ok(['replace', '--raw', `${path}/status`, '-f', '-'], JSON.stringify({ ...object, status }));
    }

    async function podOnNode(name: string, port = 80): Promise<void> {
      const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }];
      const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName: 'n', containers } };
      await client().ok(['create', '-f', '-'], JSON.stringify(object));
      const podIP = ownAddress();
      await withStatus(`/api/v1/namespaces/default/pods/${name}`, { phase: 'Running', podIP, podIPs: [{ ip: podIP }] });
    }

    it('to the logs of a container', async () => {
      await podOnNode('logs');
      assert.equal(await client().ok(['logs', 'logs', '--tail=5', '--timestamps']), 'first\nsecond\n');
      assert.equal(agent.seen.at(-1)?.url, '/containerLogs/default/logs/c?tailLines=5&timestamps=true');
    });

    for (const [args, path] of [
      [['exec', 'sessions', '--', 'ls', '-l'], '/exec/default/sessions/c?command=ls&command=-l&error=1&output=1'],
      [['attach', 'sessions'], '/attach/default/sessions/c?error=1&output=1'],
    ] as const) {
      it(`to the agent of the node, in a protocol of their own, by ${args[0]}`, async () => {
        if (args[0] === 'exec') await podOnNode('sessions');
        const session = client().follow([...args]);
        try {
          const seen = await eventually(() => Promise.resolve(agent.seen.find(({ url }) => url === path)));
          const { upgrade, 'x-stream-protocol-version': spdy, 'sec-websocket-protocol': websocket } = seen.headers;
          assert.match(upgrade ?? '', /^(?:SPDY\/3\.1|websocket)$/); // newer ones prefer the latter
          assert.match(String(spdy ?? websocket), /v[45]\.channel\.k8s\.io/);
        } finally {
          session.stop();
        }
      });
    }

    it('through the proxy to a pod', async () => {
      const target = await httpTarget({ answer: (req, res) => void res.end(`you asked ${req.url ?? ''}`) });
      try {
        await podOnNode('web', target.port);
        const path = '/api/v1/namespaces/default/pods/web/proxy/a%20b?c=d';
        assert.equal(await client().ok(['get', '--raw', path]), 'you asked /a%20b?c=d');
      } finally {
        await target.close();
      }
    });

    it('to a clear word where nobody answers', async () => {
      await podOnNode('dead', 1);
      const { code, stderr } = await client().run(['get', '--raw', '/api/v1/namespaces/default/pods/dead/proxy/']);
      assert.equal(code, 1);
      assert.match(stderr, /ServiceUnavailable|error trying to reach service/);
    });
  },
);
