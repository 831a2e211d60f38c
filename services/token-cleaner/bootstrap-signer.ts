import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ResourceClient } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import type { ConfigMap } from '../machinery/types/generated/core.v1.js';
import { bootstrapSecrets, signingToken, type SigningToken } from './bootstrap-secret.js';
import { isPublished, KUBECONFIG, publicKubeconfig, signedData } from './cluster-info.js';

export interface BootstrapSignerOptions {
  readonly clusterInfoServer: string;
}

const NAME = 'cluster-info';
/** Longest that a timer runs. */
const MAX_WAIT_MS = 24 * 3_600_000;

/**
 * Publishes where the server is and whom to trust, signed with each bootstrap token that is meant for it, so that whoever
 * holds one can tell that it is genuine before anything is trusted (spec 2, 2.2 and 5.5). There is one key. A configuration
 * that others have written stays; its own follows the address of the server and its authorities.
 */
export function openBootstrapSigner(o: BootstrapSignerOptions, d: ControllerDeps): Controller {
  const { client, informers, vocabulary, queue } = d;
  const types = builtInTypes(vocabulary);
  const namespace = vocabulary.namespaces.public;
  const maps = informers.of(types.configMaps, { namespace, fieldSelector: `metadata.name=${NAME}` });
  const secrets = informers.of(types.secrets, bootstrapSecrets(vocabulary));
  const add = (): void => queue.add(NAME);
  maps.handle({ added: add, updated: add, deleted: add });
  secrets.handle({ added: add, updated: add, deleted: add });
  const configMaps = client.resource(types.configMaps);
  const server = o.clusterInfoServer === '' ? d.server : o.clusterInfoServer;
  /** The configuration that this controller publishes; undefined: nothing says whom to trust. */
  const own = d.authorities === undefined ? undefined : publicKubeconfig(server, d.authorities);
  /** What it published once follows the address and the authorities of the server. */
  const configurationOf = ({ data = {} }: ConfigMap): string | undefined =>
    isPublished(data[KUBECONFIG] ?? '') ? own : undefined;
  return {
    informers: [maps, secrets],
    workers: 1,
    run: (): Promise<void> => {
      add(); // also where there is neither a token nor a config map
      return Promise.resolve();
    },
    reconcile: async (_, signal) => {
      const now = Date.now();
      const tokens = secrets.store.list().flatMap((secret) => signingToken(secret, now) ?? []);
      const present = maps.store.get(`${namespace}/${NAME}`);
      if (present === undefined) await create(signal);
      else await update(configMaps, present, await signedData(present, tokens, configurationOf(present)), signal);
      return nextExpiry(tokens, now);
    },
  };

  async function create(signal: AbortSignal): Promise<void> {
    if (own === undefined) return;
    const data = { [KUBECONFIG]: own };
    try {
      await configMaps.create({ metadata: { name: NAME, namespace }, data }, {}, signal);
    } catch (err) {
      if (!isApiError(err, 'AlreadyExists')) throw err; // its informer is about to show it
    }
  }
}

async function update(
  configMaps: ResourceClient<ConfigMap>,
  present: Live<ConfigMap>,
  data: ConfigMap['data'],
  signal: AbortSignal,
): Promise<void> {
  if (data === undefined) return;
  try {
    await configMaps.update({ ...present, data }, {}, signal);
  } catch (err) {
    if (!isApiError(err, 'Conflict', 'NotFound')) throw err; // its change brings it back
  }
}

function nextExpiry(tokens: readonly SigningToken[], now: number): Reconciled {
  const first = Math.min(...tokens.map(({ expiresMs }) => expiresMs));
  return first === Infinity ? undefined : { againInMs: Math.min(first - now, MAX_WAIT_MS) };
}
