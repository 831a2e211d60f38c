import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Client, Reply } from './client.js';
import { created, newNamespace, ok } from './objects.js';
import type { TestServer } from './server.js';
import { ownAddress, type Seen, type Target } from './targets.js';

export type Server = () => TestServer;

/** The agents of the tests are on this machine. */
export const LOOPBACK = '--nodeagent-allow-loopback';
export const FLAGS = [
  LOOPBACK,
  '--proxy-connect-timeout=700ms',
  '--proxy-answer-timeout=900ms',
  '--proxy-idle-timeout=1500ms',
];
export const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
export const servicesIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`;

export interface PodParts {
  readonly ports?: readonly object[];
  readonly spec?: object;
  readonly ip?: string;
}

/** A pod that runs at an address. */
export async function runningPod(
  client: Client,
  path: string,
  name: string,
  { ports, spec, ip }: PodParts,
): Promise<void> {
  const container = { name: 'main', image: 'i', ...(ports === undefined ? {} : { ports }) };
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [container], ...spec } };
  created(await client.post(path, object));
  const podIP = ip ?? ownAddress();
  ok(await client.patch(`${path}/${name}/status`, { status: { podIP, podIPs: [{ ip: podIP }], phase: 'Running' } }));
}

/** Runs a test with targets that are closed afterwards. */
export async function withTarget(target: Target, test: (target: Target) => Promise<void>): Promise<void> {
  try {
    await test(target);
  } finally {
    await target.close();
  }
}

/** A pod `p` in a namespace of its own, whose first port is the target's. */
export async function podAt(client: Client, target: Pick<Target, 'port'>, ip?: string): Promise<string> {
  const path = podsIn(await newNamespace(client));
  await runningPod(client, path, 'p', { ports: [{ name: 'web', containerPort: target.port }], ...(ip ? { ip } : {}) });
  return `${path}/p`;
}

export function seenBy(reply: Reply): Seen {
  ok(reply);
  return JSON.parse(reply.text) as Seen;
}

/** Resolves with the answer when its head is there. */
export async function openRequest(
  client: Client,
  method: string,
  path: string,
): Promise<{ req: ClientRequest; res: Promise<IncomingMessage> }> {
  const { hostname: host, port } = client.url;
  const headers = { authorization: `Bearer ${client.token}` };
  const req = https.request({ host, port, method, path, headers, rejectUnauthorized: false, agent: false });
  req.on('error', () => undefined); // ended by the test
  const res = once(req, 'response').then(([it]) => it as IncomingMessage);
  res.catch(() => undefined);
  await once(req, 'socket');
  return { req, res };
}

export const WEBSOCKET = ['Connection: keep-alive, Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: a2V5', 'Sec-WebSocket-Version: 13']; // prettier-ignore
export const SPDY = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.platform.io'];

/** A node whose agent is a target of the test, and a pod on it. */
export async function podOnNode(
  client: Client,
  agent: Pick<Target, 'port'>,
  spec: object = {},
): Promise<{ node: string; path: string; namespace: string }> {
  const namespace = await newNamespace(client);
  const node = `node-${namespace}`;
  created(await client.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } }));
  const addresses = [{ type: 'Hostname', address: 'nowhere.invalid' }, { type: 'InternalIP', address: '127.0.0.1' }]; // prettier-ignore
  const daemonEndpoints = { nodeagentEndpoint: { Port: agent.port } };
  ok(await client.patch(`/api/v1/nodes/${node}/status`, { status: { addresses, daemonEndpoints } }));
  await runningPod(client, podsIn(namespace), 'p', { spec: { nodeName: node, ...spec } });
  return { node, namespace, path: `${podsIn(namespace)}/p` };
}
