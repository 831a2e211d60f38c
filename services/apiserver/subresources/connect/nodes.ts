import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { badRequest, StatusError } from '../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { isAllowed, isAllowedOrLoopback } from './addresses.js';
import { unreachable } from './dial.js';
import { objectOf, type NodeParts, type ObjectsDeps } from './objects.js';
import { namedTarget, portNumber, type Target, type TargetTls } from './target.js';

/** How the agents of nodes are reached. */
export interface NodeAgents {
  /** Types of addresses, the one to prefer first. */
  readonly addressTypes: readonly string[];
  /** '' where there is none. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Whether an agent may be on this machine itself. */
  readonly allowLoopback: boolean;
  /** The port that this server listens on: an agent is never there, nor on the same port of another server. */
  readonly ownPort: () => number;
}

export interface NodesDeps extends ObjectsDeps {
  readonly vocabulary: Vocabulary;
  readonly nodeAgents: NodeAgents;
}

const AGENT_PORT = 10_250;

/** Read for every connection, so that renewed certificates count. @throws {Error} when a file cannot be read */
export function agentTls({
  caFile,
  certFile,
  keyFile,
}: Pick<NodeAgents, 'caFile' | 'certFile' | 'keyFile'>): TargetTls {
  const text = (member: keyof TargetTls, file: string): TargetTls =>
    file === '' ? {} : { [member]: readFileSync(file, 'utf8') };
  return { ...text('ca', caFile), ...text('cert', certFile), ...text('key', keyFile) };
}

/** @throws {StatusError} ServiceUnavailable */
function addressOf({ status }: NodeParts, name: string, types: readonly string[]): string {
  const addresses = status?.addresses ?? [];
  for (const type of types) {
    const address = addresses.find((it) => it.type === type)?.address ?? '';
    if (address !== '') return address;
  }
  const known = addresses.map((it) => it.type ?? '').join(', ');
  throw unreachable(`no preferred addresses found of node "${name}"; known addresses: [${known}]`);
}

const notAllowed = (): StatusError => badRequest('address not allowed');

/**
 * The agent of a node. Who may write a node's status may not have this server's certificate shown to servers of this API.
 *
 * @throws {StatusError} NotFound, BadRequest, ServiceUnavailable
 */
export async function agentOf(d: NodesDeps, name: string, verify = true): Promise<Target> {
  const node = await objectOf<NodeParts>(d, 'nodes', '', name);
  const host = addressOf(node, name, d.nodeAgents.addressTypes);
  const told = node.status?.daemonEndpoints?.[d.vocabulary.nodeAgent.endpoint]?.Port ?? 0;
  const { ca, ...own } = readTls(d.nodeAgents);
  const tls = verify && ca !== undefined ? { ...own, ca } : own;
  const port = told === 0 ? AGENT_PORT : told;
  const allows = d.nodeAgents.allowLoopback ? isAllowedOrLoopback : isAllowed;
  if (port === d.nodeAgents.ownPort() || (isIP(host) !== 0 && !allows(host))) throw notAllowed();
  return { scheme: 'https', host, port, tls, allows };
}

function readTls(agents: NodeAgents): TargetTls {
  try {
    return agentTls(agents);
  } catch (err) {
    throw new StatusError('InternalError', 'Internal error occurred', { cause: err });
  }
}

/**
 * The agent of the node that a name in a path names, or another port of that node.
 *
 * @throws {StatusError} NotFound, BadRequest, ServiceUnavailable
 */
export async function nodeTarget(d: NodesDeps, id: string): Promise<Target> {
  const named = namedTarget(id);
  if (named === undefined) throw badRequest(`invalid node request ${JSON.stringify(id)}`);
  const { scheme, name, port } = named;
  const agent = await agentOf(d, name);
  if (port === '' || Number(port) === agent.port) return agent;
  const number = portNumber(port);
  if (number === undefined) throw unreachable(`unknown port ${JSON.stringify(port)}`);
  if (number === d.nodeAgents.ownPort() || (isIP(agent.host) !== 0 && !isAllowed(agent.host))) throw notAllowed();
  return { scheme: scheme === '' ? 'http' : scheme, host: agent.host, port: number, tls: {}, allows: isAllowed };
}
