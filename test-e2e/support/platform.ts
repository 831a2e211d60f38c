import { join } from 'node:path';
import { startProgram, type Exit, type Program } from './program.js';
import { removeDirectory, scratchDirectory } from './scratch.js';

export interface StartPlatform {
  /** More flags. */
  readonly args?: readonly string[];
  /** Kept when given; else made for this process and removed when it is stopped. */
  readonly dataDir?: string;
  readonly vocabulary?: 'platform' | 'kubernetes';
  readonly store?: 'embedded' | 'etcd';
  /** Whether pods need a service account; the controller then runs that makes the default one of each namespace. */
  readonly accounts?: boolean;
  /** Controllers that run in the process: none, all, or those named. @default none, so that nothing else writes */
  readonly controllers?: boolean | readonly string[];
  readonly etcdServers?: readonly string[];
  /** Added to the environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** `platform up` as a process of its own, ready. */
export interface Running {
  /** e.g. `https://127.0.0.1:41873` */
  readonly url: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly dataDir: string;
  readonly pid: number;
  /** From the start of the process to the ready line. */
  readonly readyMs: number;
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM; resolves when the process is gone, and with it the directory that was made for it. */
  stop(): Promise<Exit>;
  readonly exited: Promise<Exit>;
}

const READY = /^ready (https:\/\/\S+:(\d+)) kubeconfig=(.*)$/;
/** Nets, wide enough for a machine that is slow and busy. */
const READY_MS = 60_000;
const STOP_MS = 20_000;

/** For tests which make pods, and are not about accounts. */
export const WITHOUT_ACCOUNTS = ['--disable-admission-plugins=ServiceAccount'];

/** On a free port unless `args` name one. */
export async function startPlatform(o: StartPlatform = {}): Promise<Running> {
  const dataDir = o.dataDir ?? scratchDirectory();
  const started = performance.now();
  const program = startProgram(['up', ...flags(o, dataDir)], o.env);
  const remove = (): void => {
    if (o.dataDir === undefined) removeDirectory(dataDir);
  };
  try {
    const [, url = '', port = '', kubeconfig = ''] = await program.line(READY, READY_MS);
    return {
      ...program,
      url,
      port: Number(port),
      kubeconfig,
      dataDir,
      readyMs: performance.now() - started,
      stop: async () => {
        const exit = await stopped(program);
        remove();
        return exit;
      },
    };
  } catch (err) {
    program.kill('SIGKILL');
    remove();
    throw err;
  }
}

function flags(o: StartPlatform, dataDir: string): string[] {
  return [
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...(o.accounts === true ? [] : WITHOUT_ACCOUNTS),
    ...controllerFlags(o.controllers ?? (o.accounts === true ? ['serviceaccount'] : false)),
    `--data-dir=${dataDir}`,
    ...(o.vocabulary === undefined ? [] : [`--vocabulary=${o.vocabulary}`]),
    ...(o.store === undefined ? [] : [`--store=${o.store}`]),
    ...(o.etcdServers === undefined ? [] : [`--etcd-servers=${o.etcdServers.join(',')}`]),
    ...(o.args ?? []),
  ];
}

export const WITHOUT_CONTROLLERS = '--controllers=-*';

function controllerFlags(which: boolean | readonly string[]): string[] {
  if (which === true) return [];
  return which === false ? [WITHOUT_CONTROLLERS] : [`--controllers=${which.join(',')}`];
}

/** Ends a process as an operator does, and by force when that does not help. */
export async function stopped(program: Pick<Program, 'kill' | 'exited'>): Promise<Exit> {
  program.kill('SIGTERM');
  const force = setTimeout(() => program.kill('SIGKILL'), STOP_MS);
  try {
    return await program.exited;
  } finally {
    clearTimeout(force);
  }
}

/** `apiserver` as a process of its own, on a free port; its flags name the credentials. */
export async function startApiServer(args: readonly string[]): Promise<Program & { readonly url: string }> {
  const program = startProgram([
    'apiserver',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    ...WITHOUT_ACCOUNTS,
    ...args,
  ]);
  const [, url = ''] = await program.line(/^ready (https:\/\/\S+)$/, READY_MS);
  return { ...program, url };
}

/** The flags with which an API server uses the credentials that `up` made in `dir`. */
export const credentialFlags = (dir: string): string[] => [
  `--tls-cert-file=${join(dir, 'apiserver.crt')}`,
  `--tls-private-key-file=${join(dir, 'apiserver.key')}`,
  `--client-ca-file=${join(dir, 'ca.crt')}`,
];
