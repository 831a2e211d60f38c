import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type EtcdVersion = '3.5' | '3.4';

const VARIABLES = { '3.5': 'ETCD_35', '3.4': 'ETCD_34' } as const satisfies Record<EtcdVersion, string>;
const SCRIPT = 'deploy/etcd/get-etcd.mjs';

/** The etcd to test with; undefined when there is no binary, only perhaps a container engine. */
export function findEtcd(version: EtcdVersion): string | undefined {
  const named = process.env[VARIABLES[version]];
  if (named !== undefined && named !== '') return named;
  const root = projectRoot();
  const cached = join(root, '.cache/etcd', version, 'etcd');
  if (!existsSync(cached)) fetchEtcd(join(root, SCRIPT));
  return existsSync(cached) ? cached : undefined;
}

function projectRoot(): string {
  for (const start of [dirname(fileURLToPath(import.meta.url)), process.cwd()]) {
    for (let dir = start; dir !== dirname(dir); dir = dirname(dir)) {
      if (existsSync(join(dir, SCRIPT))) return dir;
    }
  }
  throw new Error(`Cannot find ${SCRIPT} above this file or the working directory`);
}

/** The script says on its own what is missing. */
function fetchEtcd(script: string): void {
  try {
    execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 });
  } catch (err) {
    throw new Error('Cannot run these tests without an etcd', { cause: err });
  }
}
