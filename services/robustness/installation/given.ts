import { readClientConfig } from '../../client/kubeconfig/config.js';
import { connectionOf, type Connection } from '../../client/kubeconfig/connection.js';
import { FlagError } from '../../machinery/flags/flags.js';
import type { Log } from '../../machinery/log/log.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Installation } from './installation.js';

export interface GivenOptions {
  readonly vocabulary: Vocabulary;
  /** Client configuration files; the first one says who the clients are. */
  readonly kubeconfigs: readonly string[];
  /** Addresses instead of those in the files. */
  readonly servers: readonly string[];
  readonly log: Log;
}

/** Servers that run already. Nothing is started, and nothing broken, but by the command that is given for that. */
export function openGiven(o: GivenOptions): Installation {
  const warn = (message: string, keys: object): void => o.log.warn(message, keys);
  const connect = (path: string): Connection =>
    connectionOf(readClientConfig(path), { vocabulary: o.vocabulary, interactive: false, warn });
  const [first] = o.kubeconfigs;
  if (first === undefined) throw new FlagError('--servers needs --kubeconfig');
  const { tls, credentials } = connect(first);
  credentials.close();
  const servers = o.servers.length > 0 ? o.servers.map(urlOf) : o.kubeconfigs.map(serverOf(connect));
  return {
    vocabulary: o.vocabulary,
    servers,
    trust: tls,
    credentials: () => connect(first).credentials,
    parts: undefined,
    close: () => Promise.resolve(),
  };
}

const serverOf =
  (connect: (path: string) => Connection) =>
  (path: string): URL => {
    const { server, credentials } = connect(path);
    credentials.close();
    return server;
  };

function urlOf(text: string): URL {
  if (URL.canParse(text) && text.startsWith('https://')) return new URL(text);
  throw new FlagError(`Cannot parse --servers: ${JSON.stringify(text)} is no https address`);
}
