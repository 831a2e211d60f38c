import { hostname } from 'node:os';
import type { Credentials } from '../../client/credentials/credential.js';
import { openDiscovery, type RunningDiscovery } from '../../client/discovery/open-discovery.js';
import { openEventRecorder } from '../../client/events/open-event-recorder.js';
import { openInformers } from '../../client/informer/open-informers.js';
import { builtInTypes } from '../../client/rest/built-in-types.js';
import type { ApiClient } from '../../client/rest/client.js';
import type { AnyObject, Live } from '../../client/rest/resource-type.js';
import type { Log } from '../../machinery/log/log.js';
import type { ControllerDeps, ControllerEntry, KeyQueue } from '../controller.js';
import { accountCredentials } from '../identity/account-credentials.js';
import type { Identity } from '../identity/identity.js';

export interface SceneOptions {
  readonly identity: Identity;
  readonly useServiceAccountCredentials: boolean;
  /** Of each controller. */
  readonly qps: number;
  readonly burst: number;
  readonly log: Log;
  /** Whether requests may still go out. */
  readonly isHeld: () => boolean;
}

/** What the controllers of a process share. */
export interface Scene {
  depsOf(entry: Pick<ControllerEntry, 'name' | 'account'>, queue: KeyQueue): ControllerDeps;
  /** Runs what all look at, until the signal of the scene fires. Never rejects. */
  run(): Promise<void>;
  close(): void;
}

export function openScene(o: SceneOptions, signal: AbortSignal): Scene {
  const { identity, log, isHeld } = o;
  const { vocabulary } = identity;
  const shared = identity.client({ part: 'shared-informers', isHeld, qps: Infinity, burst: 1 });
  const clients = new Map<string, ApiClient>([['', shared]]);
  const informers = openInformers(shared, { log, transform: withoutManagers });
  let discovery: RunningDiscovery | undefined;
  const credentialsOf = (name: string): { readonly credentials?: Credentials } => {
    if (name === '' || !o.useServiceAccountCredentials) return {};
    const account = { namespace: vocabulary.namespaces.system, name };
    return { credentials: accountCredentials({ client: shared, types: builtInTypes(vocabulary), account, log }) };
  };
  /** One for each account; controllers that have none ask each for itself. */
  const clientOf = ({ name, account }: Pick<ControllerEntry, 'name' | 'account'>): ApiClient => {
    const part = account === '' ? name : account;
    const { qps, burst } = o;
    const client = clients.get(part) ?? identity.client({ part, isHeld, qps, burst, ...credentialsOf(account) });
    clients.set(part, client);
    return client;
  };
  return {
    depsOf(entry, queue) {
      const client = clientOf(entry);
      const source = { component: entry.name, instance: hostname() };
      const events = openEventRecorder({ client, vocabulary, source, log, signal });
      const { authorities, server } = identity;
      return {
        client,
        informers,
        // It follows definitions, which processes that have no use for it may not even read.
        get discovery() {
          return (discovery ??= openDiscovery(shared, { vocabulary, log, informers }));
        },
        events,
        vocabulary,
        log,
        server: server.href,
        authorities,
        queue,
      };
    },
    async run() {
      await Promise.all([informers.run(signal), discovery?.run(signal)]);
    },
    close() {
      for (const client of clients.values()) client.close();
    },
  };
}

/**
 * An object as controllers keep it: who owns which field is a third of a small object, and a server that is sent an object
 * without it goes on with what it has. Of metadata alone, annotations are left out as well.
 */
function withoutManagers<T extends AnyObject>(object: Live<T>, of: 'object' | 'metadata'): Live<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  if (of === 'object') return { ...object, metadata };
  const { annotations: __, ...least } = metadata;
  return { ...object, metadata: least };
}
