import { once } from 'node:events';
import { createServer, request, Agent } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { issueAuthority, issueLeaf, newKey } from '../../services/machinery/pki/issue.js';
import { kubeconfigText } from '../../services/client/kubeconfig/write.js';
import { credentialsOf } from './client.js';

export interface DroppingProxy {
  /** The text of a client configuration that leads through it. */
  readonly kubeconfig: string;
  /** Whether it has dropped one by now. */
  readonly hasDropped: () => boolean;
  close(): Promise<void>;
}

/** Stands between clients and a server, speaks HTTP/1.1, and keeps one event of a watch for itself. */
export async function droppingProxy(kubeconfig: string, isDropped: (line: string) => boolean): Promise<DroppingProxy> {
  const { server: target, ...credentials } = credentialsOf(kubeconfig);
  const { ca, cert = '', key = '' } = credentials;
  const agent = new Agent({ keepAlive: true, ca, cert, key });
  const [caKey, ownKey] = await Promise.all([newKey(), newKey()]);
  const now = new Date();
  const authority = issueAuthority({ key: caKey, commonName: 'proxy-ca', previous: undefined }, now);
  const leaf = { key: ownKey, commonName: 'proxy', hosts: ['127.0.0.1'], usage: 'serverAuth' } as const;
  const own = issueLeaf(leaf, { cert: authority, key: caKey }, now);
  let dropped = false;
  const mayPass = (line: string): boolean => {
    if (dropped || !isDropped(line)) return true;
    dropped = true;
    return false;
  };
  const proxy = createServer({ cert: own, key: ownKey }, (req, res) => {
    const url = new URL(req.url ?? '/', target);
    const onward = request(url, { method: req.method ?? 'GET', headers: req.headers, agent }, (answer) =>
      passOn(answer, res, url.searchParams, mayPass),
    );
    onward.on('error', () => res.destroy());
    req.on('error', () => onward.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo; // it listens on TCP
  const server = `https://127.0.0.1:${port}`;
  return {
    kubeconfig: kubeconfigText({ cluster: 'proxy', user: 'admin', server, authority, certificate: cert, key }),
    hasDropped: () => dropped,
    close: async () => {
      agent.destroy();
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function passOn(
  answer: IncomingMessage,
  res: ServerResponse,
  query: URLSearchParams,
  mayPass: (line: string) => boolean,
): void {
  res.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.on('error', () => res.destroy());
  if (!query.has('watch') || query.has('labelSelector')) {
    answer.pipe(res);
    return;
  }
  res.flushHeaders();
  const lines = createInterface({ input: answer });
  lines.on('line', (line) => {
    if (mayPass(line)) res.write(`${line}\n`);
  });
  lines.on('error', () => res.destroy());
  lines.on('close', () => res.end());
}
