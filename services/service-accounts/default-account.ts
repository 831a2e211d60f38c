import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import { isActive, isNamespaceEnding } from './active-namespace.js';

const ACCOUNT = 'default';

/** Keeps a service account `default` in every active namespace (spec 2, 5.4). A key is the name of a namespace. */
export function openDefaultAccount(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const types = builtInTypes(vocabulary);
  const namespaces = informers.of(types.namespaces);
  const accounts = informers.metadataOf(types.serviceAccounts);
  namespaces.handle({
    added: ({ metadata }) => queue.add(metadata.name),
    updated: ({ metadata }) => queue.add(metadata.name),
  });
  accounts.handle({
    deleted: ({ metadata: { name, namespace = '' } }) => {
      if (name === ACCOUNT) queue.add(namespace);
    },
  });
  return {
    informers: [namespaces, accounts],
    workers: 5,
    reconcile: async (namespace, signal) => {
      if (!isActive(namespaces.store.get(namespace))) return undefined;
      if (accounts.store.get(`${namespace}/${ACCOUNT}`) !== undefined) return undefined;
      try {
        await client.resource(types.serviceAccounts).create({ metadata: { name: ACCOUNT, namespace } }, {}, signal);
      } catch (err) {
        if (!isApiError(err, 'AlreadyExists') && !isNamespaceEnding(err)) throw err;
      }
      return undefined;
    },
  };
}
