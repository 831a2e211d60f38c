import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, request, type Target } from './connection.js';
import { start, type Started } from './processes.js';

const PLATFORM = join(import.meta.dirname, '../../../bin/platform');

export interface ServerOptions {
  readonly store: string;
  /** Of etcd; undefined for the embedded store. */
  readonly etcdUrl?: string | undefined;
  /** Beginning of all keys in etcd. @default one that nobody else has */
  readonly prefix?: string;
  readonly flags?: readonly string[];
}

/** A server that is measured, with a directory of its own. */
export interface BenchServer {
  readonly target: Target;
  readonly process: Started;
  readonly directory: string;
  /** Ends it, and starts another one on the same objects. */
  again(flags?: readonly string[]): Promise<BenchServer>;
  /** Ends it and removes its directory. */
  stop(): Promise<void>;
}

export async function startServer(o: ServerOptions): Promise<BenchServer> {
  return startIn(mkdtempSync(join(tmpdir(), 'bench-')), o);
}

async function startIn(directory: string, o: ServerOptions): Promise<BenchServer> {
  const { store, etcdUrl, prefix = `/${directory.replaceAll('/', '-')}`, flags = [] } = o;
  const args = ['up', '--data-dir', directory, '--secure-port=0', '--log-level=error', `--store=${store}`, ...flags];
  if (etcdUrl !== undefined) args.push(`--etcd-servers=${etcdUrl}`, `--etcd-prefix=${prefix}`);
  const process = await start(PLATFORM, args);
  return {
    target: targetOf(process, directory),
    process,
    directory,
    again: async (others = flags) => {
      await process.stop();
      return startIn(directory, { ...o, flags: others });
    },
    stop: async () => {
      await process.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** How the administrator of a server that has said that it is ready reaches it. */
export function targetOf({ line }: Started, directory: string): Target {
  const port = Number(/https:\/\/[^\s]*:(\d+)/.exec(line)?.[1]);
  const [cert, key] = ['admin.crt', 'admin.key'].map((file) => readFileSync(join(directory, file)));
  if (cert === undefined || key === undefined) throw new Error('no credentials');
  return { host: '127.0.0.1', port, cert, key };
}

/** Creates objects one after the other. @param objects Each with the path of its collection */
export async function post(
  target: Target,
  objects: readonly (readonly [path: string, object: object])[],
): Promise<void> {
  const connection = await Connection.open(target);
  for (const [path, object] of objects) {
    const { code } = await connection.ask(request('POST', path, { body: JSON.stringify(object) }));
    if (code !== 201) throw new Error(`${path}: ${code} ${connection.firstBytes}`);
  }
  connection.close();
}
