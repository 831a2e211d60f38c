import type { ClientConfig, UserEntry } from './config.js';

const DEFAULT_PORT = ':443';

/**
 * As whom to ask an admission webhook (spec 2, 4.3): the user whose name is the host and port, or has `*` in place of
 * the first labels of the host, the longest such name first; the port 443 need not be named; at last the user `*`.
 *
 * @param target Host and port, e.g. `hook.default.svc:443`.
 */
export function userFor(target: string, { users }: Pick<ClientConfig, 'users'>): UserEntry | undefined {
  const targets = target.endsWith(DEFAULT_PORT) ? [target, target.slice(0, -DEFAULT_PORT.length)] : [target];
  for (const name of [...targets.flatMap(namesFor), '*']) {
    const user = users.get(name);
    if (user !== undefined) return user;
  }
  return undefined;
}

/** The target itself, then with less and less of it in sight. */
function namesFor(target: string): string[] {
  const labels = target.split('.');
  return [target, ...labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`)];
}
