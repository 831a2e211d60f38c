import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { FlagError } from '../../machinery/flags/flags.js';

/** The etcd to start: the one that is named, that of the tests' cache, or the one on PATH. @throws {FlagError} */
export function findEtcd(named: string, cwd = process.cwd()): string {
  const cached = join(cwd, '.cache/etcd/3.5/etcd');
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((dir) => join(dir, 'etcd'));
  const candidates = named === '' ? [cached, ...onPath] : [named];
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new FlagError('No etcd to be had: put one on PATH, name it with --etcd, or run make .cache/etcd/provided');
}
