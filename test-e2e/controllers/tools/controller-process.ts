import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startProgram, type Program } from '../../support/program.js';
import type { TestServer } from '../../api/tools/server.js';

export interface ControllerProcessOptions {
  /** @default controller-manager */
  readonly command?: string;
  /** Whom the server sees. */
  readonly user: string;
  /** Groups of that user. @default those of an administrator */
  readonly groups?: readonly string[];
  /** Where the server is reached. @default where it listens */
  readonly url?: string;
  readonly flags?: readonly string[];
}

/** A process of controllers on a free port. */
export interface ControllerProcess extends Program {
  readonly url: string;
  /** What its port answers. */
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; body: string }>;
}

const READY_MS = 60_000;
let configurations = 0;

/** A client configuration by which a user asks the server, made from the administrator's. @returns Its path. */
export function clientConfiguration(
  { directory, client }: TestServer,
  { user, groups = ['system:masters'], url = client.url.origin }: Pick<ControllerProcessOptions, 'user' | 'groups' | 'url'>, // prettier-ignore
): string {
  const file = join(directory, `${++configurations}.kubeconfig`);
  const entry = { server: url, 'certificate-authority': 'ca.crt' };
  const certificate = { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: entry }],
    users: [{ name: user, user: { ...certificate, as: user, 'as-groups': groups } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user } }],
    'current-context': 'it',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Starts one, and does not wait for it. */
export const launchControllers = (server: TestServer, o: ControllerProcessOptions): Program =>
  startProgram([
    o.command ?? 'controller-manager',
    `--kubeconfig=${clientConfiguration(server, o)}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...(o.flags ?? []),
  ]);

/** Starts one, and waits until its port is open. */
export async function startControllers(server: TestServer, o: ControllerProcessOptions): Promise<ControllerProcess> {
  const program = launchControllers(server, o);
  const [, url = ''] = await program.line(/^ready (https:\/\/\S+)$/, READY_MS);
  return { ...program, url, ask: (path, headers = {}) => ask(`${url}${path}`, headers) };
}

async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<{ status: number; body: string }> {
  const asked = request(url, { rejectUnauthorized: false, agent: false, headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject);
  });
  return { status: response.statusCode ?? 0, body: await text(response) };
}
