import { badRequest } from '../../../machinery/meta/status.js';
import { isAllowed } from './addresses.js';
import { unreachable } from './dial.js';
import { objectOf, type ObjectsDeps, type PodParts } from './objects.js';
import { namedTarget, portNumber, type Target } from './target.js';

const USUAL_PORT = { http: 80, https: 443 } as const;

/** All addresses of a pod, the first one first. */
export function addressesOf({ status }: PodParts): string[] {
  const all = [status?.podIP, ...(status?.podIPs ?? []).map(({ ip }) => ip)];
  return [...new Set(all)].filter((ip) => ip !== undefined && ip !== '') as string[];
}

/** @throws {StatusError} ServiceUnavailable */
function portOf({ spec }: PodParts, asked: string, scheme: 'http' | 'https'): number {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  if (asked === '') return ports[0]?.containerPort ?? USUAL_PORT[scheme];
  const port = portNumber(asked) ?? ports.find(({ name }) => name === asked)?.containerPort;
  if (port === undefined) throw unreachable(`unknown port ${JSON.stringify(asked)}`);
  return port;
}

/** The pod that `name`, `name:port` or `scheme:name:port` names. @throws {StatusError} NotFound, BadRequest, ServiceUnavailable */
export async function podTarget(d: ObjectsDeps, namespace: string, id: string): Promise<Target> {
  const named = namedTarget(id);
  if (named === undefined) throw badRequest(`invalid pod request ${JSON.stringify(id)}`);
  const pod = await objectOf<PodParts>(d, 'pods', namespace, named.name);
  const scheme = named.scheme === '' ? 'http' : named.scheme;
  const port = portOf(pod, named.port, scheme);
  const [host = ''] = addressesOf(pod);
  if (!isAllowed(host)) throw badRequest('address not allowed');
  return { scheme, host, port, tls: {}, allows: isAllowed };
}
