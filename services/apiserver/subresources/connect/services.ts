import { badRequest, hasReason, StatusError } from '../../../machinery/meta/status.js';
import { isAllowed } from './addresses.js';
import {
  objectOf,
  type EndpointAddress,
  type EndpointsParts,
  type ObjectsDeps,
  type PodParts,
  type ServiceParts,
} from './objects.js';
import { addressesOf } from './pods.js';
import { namedTarget, portNumber, type Target } from './target.js';

interface Candidate {
  readonly address: EndpointAddress;
  readonly port: number;
}

/** The name that a service gives a port; one that is no number is a name already. @throws {StatusError} */
async function portName(d: ObjectsDeps, namespace: string, name: string, port: string): Promise<string> {
  const wanted = portNumber(port);
  if (wanted === undefined) return port;
  const { spec } = await objectOf<ServiceParts>(d, 'services', namespace, name);
  const found = spec?.ports?.find((it) => it.port === wanted);
  if (found === undefined) throw unavailable(`no service port ${wanted} found for service "${name}"`);
  return found.name ?? '';
}

const unavailable = (message: string): StatusError => new StatusError('ServiceUnavailable', message);

/** Ready addresses with a port of that name. */
const candidatesOf = ({ subsets = [] }: EndpointsParts, port: string): Candidate[] =>
  subsets.flatMap(({ addresses = [], ports = [] }) => {
    const found = ports.find(({ name = '' }) => name === port)?.port;
    return found === undefined ? [] : addresses.map((address) => ({ address, port: found }));
  });

/** An address that says whose it is must be that pod's: who may write endpoints may not reach the pods of others. */
async function belongs(d: ObjectsDeps, namespace: string, { ip = '', targetRef }: EndpointAddress): Promise<boolean> {
  if (targetRef?.kind !== 'Pod') return true;
  if (targetRef.namespace !== namespace) return false;
  try {
    return addressesOf(await objectOf<PodParts>(d, 'pods', namespace, targetRef.name ?? '')).includes(ip);
  } catch (err) {
    if (hasReason(err, 'NotFound')) return false;
    throw err;
  }
}

/** In an order of chance. */
function shuffled<T>(list: readonly T[]): T[] {
  const from = [...list];
  return list.map(() => from.splice(Math.floor(Math.random() * from.length), 1)[0] as T); // one is left each time
}

/** Where to look for an address that can be used, at most. */
const MOST_TRIED = 20;

/**
 * One of the servers behind the service that `name`, `name:port` or `scheme:name:port` names, chosen at random.
 *
 * @throws {StatusError} NotFound, BadRequest; ServiceUnavailable when there is none
 */
export async function serviceTarget(d: ObjectsDeps, namespace: string, id: string): Promise<Target> {
  const named = namedTarget(id);
  if (named === undefined) throw badRequest(`invalid service request ${JSON.stringify(id)}`);
  const { scheme, name } = named;
  const port = await portName(d, namespace, name, named.port);
  const endpoints = await objectOf<EndpointsParts>(d, 'endpoints', namespace, name);
  if ((endpoints.subsets ?? []).length === 0) throw unavailable(`no endpoints available for service "${name}"`);
  const candidates = shuffled(candidatesOf(endpoints, port)).slice(0, MOST_TRIED);
  for (const { address, port: number } of candidates) {
    if (!(await belongs(d, namespace, address))) continue;
    const host = address.ip ?? '';
    if (!isAllowed(host)) throw badRequest('address not allowed');
    return { scheme: scheme === '' ? 'http' : scheme, host, port: number, tls: {}, allows: isAllowed };
  }
  throw unavailable(`no endpoints available for service "${id}"`);
}
