import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ResourceClient } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import type { ConfigMap } from '../machinery/types/generated/core.v1.js';
import { bootstrapSecrets, signingToken, type SigningToken } from './bootstrap-secret.js';
import { KUBECONFIG, publicKubeconfig, signedData } from './cluster-info.js';

export interface BootstrapSignerOptions {
  readonly clusterInfoServer: string;
}

const NAME = 'cluster-info';
/** Longest that a timer runs. */
const MAX_WAIT_MS = 24 * 3_600_000;

/**
 * Publishes where the server is and whom to trust, signed with each bootstrap token that is meant for it, so that whoever
 * holds one can tell that it is genuine before anything is trusted (spec 2, 2.2 and 5.5). There is one key. A configuration
 * that others have written stays.
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
      await (present === undefined ? create(signal) : update(configMaps, present, tokens, signal));
      return nextExpiry(tokens, now);
    },
  };

  async function create(signal: AbortSignal): Promise<void> {
    if (d.authorities === undefined) return;
    const server = o.clusterInfoServer === '' ? d.server : o.clusterInfoServer;
    const data = { [KUBECONFIG]: publicKubeconfig(server, d.authorities) };
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
  tokens: readonly SigningToken[],
  signal: AbortSignal,
): Promise<void> {
  const data = await signedData(present, tokens);
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
