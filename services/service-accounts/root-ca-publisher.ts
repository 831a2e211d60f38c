import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import { jsonEqual } from '../machinery/meta/own.js';
import type { ConfigMap } from '../machinery/types/generated/core.v1.js';
import { isActive, isNamespaceEnding } from './active-namespace.js';
import { followRootCa, type RootCaOptions } from './root-ca.js';

const DESCRIPTION = 'The certificates by which programs in this namespace verify the API server.';

/** Key of the config map under which the certificates lie, in PEM. */
export const CA_KEY = 'ca.crt';

/**
 * Keeps a config map in every active namespace that says which authorities programs there verify the server by (spec 2,
 * 2.2). A key is the name of a namespace.
 */
export function openRootCaPublisher(o: RootCaOptions, d: ControllerDeps): Controller | undefined {
  const { client, informers, vocabulary, queue } = d;
  const rootCa = followRootCa(o, d);
  if (rootCa === undefined) return undefined;
  const types = builtInTypes(vocabulary);
  const name = vocabulary.rootCaConfigMap;
  const { description } = vocabulary.annotations;
  const isRight = (present: Live<ConfigMap>, data: object): boolean =>
    jsonEqual(present.data ?? {}, data) &&
    present.binaryData === undefined &&
    present.metadata.annotations?.[description] !== undefined;
  const namespaces = informers.of(types.namespaces);
  const maps = informers.of(types.configMaps, { fieldSelector: `metadata.name=${name}` });
  const look = ({ metadata: { namespace = '' } }: Live<ConfigMap>): void => queue.add(namespace);
  maps.handle({ added: look, updated: look, deleted: look });
  namespaces.handle({
    added: ({ metadata }) => queue.add(metadata.name),
    updated: ({ metadata }) => queue.add(metadata.name),
  });
  return {
    informers: [namespaces, maps],
    workers: 5,
    run: (signal) =>
      rootCa.follow(() => {
        for (const { metadata } of namespaces.store.list()) queue.add(metadata.name);
      }, signal),
    reconcile: async (namespace, signal) => {
      if (!isActive(namespaces.store.get(namespace))) return undefined;
      const present = maps.store.get(`${namespace}/${name}`);
      const data = { [CA_KEY]: rootCa.pem };
      const annotations = { [description]: DESCRIPTION, ...present?.metadata.annotations };
      try {
        if (present === undefined) {
          const metadata = { name, namespace, annotations };
          await client.resource(types.configMaps).create({ metadata, data }, {}, signal);
        } else if (!isRight(present, data)) {
          const { binaryData: _, ...rest } = present;
          const metadata = { ...present.metadata, annotations };
          await client.resource(types.configMaps).update({ ...rest, metadata, data }, {}, signal);
        }
      } catch (err) {
        // What was in the way of a write is a change that brings the key back.
        if (!isApiError(err, 'AlreadyExists', 'Conflict') && !isNamespaceEnding(err)) throw err;
      }
      return undefined;
    },
  };
}
