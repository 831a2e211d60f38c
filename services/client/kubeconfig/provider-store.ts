import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { OidcTokens, TokenStore } from '../credentials/oidc/oidc-credentials.js';
import { readBoundedLater } from './bounded-file.js';
import { readClientConfig } from './config.js';
import { ClientConfigError } from './member.js';
import { withProviderConfig } from './provider-edit.js';

const LOCK_WAIT_MS = 2_000;
const LOCK_LOOK_MS = 50;

/** The settings of an auth provider that say which tokens those in the file are. */
const IDENTITY = ['idp-issuer-url', 'client-id'];

/**
 * The tokens of a user's auth provider in a client configuration file. Other members of the file stay as they are, to the
 * letter; who reads it meanwhile sees the old file or the new one.
 *
 * @param settings As the process has read them: tokens of another issuer or client are not ours.
 */
export function providerStore(file: string, user: string, settings: ReadonlyMap<string, string>): TokenStore {
  return {
    load: () => loadTokens(file, user, settings),
    save: ({ idToken, refreshToken }) => {
      const changes = new Map([
        ['id-token', idToken],
        ['refresh-token', refreshToken],
      ]);
      return locked(file, async () => {
        const path = await realpath(file); // a link goes on leading to it
        const bytes = await readBoundedLater(path);
        await replace(path, withProviderConfig(bytes, { file, user, changes }));
      });
    },
  };
}

function loadTokens(file: string, user: string, settings: ReadonlyMap<string, string>): OidcTokens | undefined {
  try {
    const config = readClientConfig(file).users.get(user)?.authProvider?.config;
    if (config === undefined || IDENTITY.some((name) => config.get(name) !== settings.get(name))) return undefined;
    return { idToken: config.get('id-token') ?? '', refreshToken: config.get('refresh-token') ?? '' };
  } catch (err) {
    if (err instanceof ClientConfigError) return undefined; // it was readable once, and what it said then is known
    throw err;
  }
}

/** With the lock that other clients take as well: a file beside it. @throws {ClientConfigError} */
async function locked(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  for (let waitedMs = 0; !(await taken(lock)); waitedMs += LOCK_LOOK_MS) {
    if (waitedMs >= LOCK_WAIT_MS) throw new ClientConfigError(`${file}: is locked by ${lock}`);
    await pause(LOCK_LOOK_MS);
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'EEXIST') return false;
    throw err;
  }
}

/** All of it or nothing, readable for its owner only: it holds tokens. */
async function replace(path: string, text: string): Promise<void> {
  const next = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    const file = await open(next, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (err) {
    await rm(next, { force: true });
    throw err;
  }
}
