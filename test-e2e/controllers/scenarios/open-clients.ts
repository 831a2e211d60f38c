import { readClientConfig } from '../../../services/client/kubeconfig/config.js';
import { connectionOf } from '../../../services/client/kubeconfig/connection.js';
import type { ApiClient } from '../../../services/client/rest/client.js';
import { clientOf } from '../../../services/client/rest/open-client.js';
import { words, type OpenClient } from './scenario.js';

/** Clients for the server of a client configuration file. One is shared by all who ask as the administrator. */
export function openClients(kubeconfig: string): { readonly open: OpenClient; close(): void } {
  const connect = (impersonation: Readonly<Record<string, string | readonly string[]>>): ApiClient => {
    const o = { vocabulary: words, interactive: false, warn: () => undefined };
    const connection = connectionOf(readClientConfig(kubeconfig), o);
    return clientOf({ ...connection, impersonation }, { vocabulary: words, userAgent: 'scenarios', qps: Infinity });
  };
  const admin = connect({});
  const opened = [admin];
  const open: OpenClient = (as) => {
    if (as === undefined) return admin;
    const client = connect({ 'impersonate-user': as.name, 'impersonate-group': as.groups });
    opened.push(client);
    return client;
  };
  return {
    open,
    close: () => {
      for (const client of opened) client.close();
    },
  };
}
