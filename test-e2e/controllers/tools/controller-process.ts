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
  /** Whom the server sees, with the rights of an administrator; names the client configuration. */
  readonly user: string;
  readonly flags?: readonly string[];
}

/** A process of controllers on a free port. */
export interface ControllerProcess extends Program {
  readonly url: string;
  /** What its port answers. */
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<{ status: number; body: string }>;
}

const READY_MS = 60_000;

/** A client configuration by which a user asks the server, made from the administrator's. @returns Its path. */
export function clientConfiguration(server: TestServer, user: string): string {
  const { directory } = server;
  const file = join(directory, `${user}.kubeconfig`);
  const entry = { server: server.client.url.origin, 'certificate-authority': 'ca.crt' };
  const certificate = { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: entry }],
    users: [{ name: user, user: { ...certificate, as: user, 'as-groups': ['system:masters'] } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user } }],
    'current-context': 'it',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Starts one, and waits until its port is open. */
export async function startControllers(server: TestServer, o: ControllerProcessOptions): Promise<ControllerProcess> {
  const program = startProgram([
    o.command ?? 'controller-manager',
    `--kubeconfig=${clientConfiguration(server, o.user)}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...(o.flags ?? []),
  ]);
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
