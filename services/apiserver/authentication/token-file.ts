import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FileChanges } from '../../machinery/files/file-changes.js';
import type { Log } from '../../machinery/log/log.js';
import type { Identity, TokenAuthenticator } from './authenticator.js';

export interface TokenFileDeps {
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Ends with the server. */
  readonly signal: AbortSignal;
  /** @default 5 s */
  readonly reloadEveryMs?: number;
}

const digest = (token: string): string => hash('sha256', token, 'base64');

/**
 * Static tokens of a file with lines `token,user,uid,"group1,group2"` (spec 2, 5.3), which follow it. Tokens are kept and compared as
 * digests, so neither memory nor time tells them.
 *
 * @throws {Error} Naming the line, when the file is malformed.
 */
export function tokenFile(path: string, { log, signal, reloadEveryMs }: TokenFileDeps): TokenAuthenticator {
  const changes = new FileChanges([path]);
  const parsed = (): Map<string, Identity> => parseTokenFile(readFileSync(path, 'utf8'), path);
  let users = parsed();
  const end = changes.follow({ what: 'static tokens', read: () => void (users = parsed()), log }, reloadEveryMs);
  signal.addEventListener('abort', end, { once: true });
  return { name: 'token-file', authenticateToken: (token) => users.get(digest(token)) };
}

function parseTokenFile(text: string, path: string): Map<string, Identity> {
  const users = new Map<string, Identity>();
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [token = '', name = '', uid, groups = ''] = columns(line);
    if (token === '' || name === '' || uid === undefined)
      throw new Error(`${path}:${i + 1}: a line is token,user,uid and optionally "groups"`);
    const named = groups.split(',').map((g) => g.trim());
    users.set(digest(token), { user: { name, uid, groups: named.filter((g) => g !== ''), extra: {} } });
  }
  return users;
}

/** Comma-separated values; a column may be in double quotes. */
function columns(line: string): string[] {
  return [...line.trim().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => (m[1] ?? m[2] ?? '').trim());
}
