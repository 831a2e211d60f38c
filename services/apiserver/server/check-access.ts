import { FlagError } from '../../machinery/flags/flags.js';
import type { ApiServerOptions } from '../options/flags.js';
import { AUTHENTICATION_FLAGS } from '../options/authentication.js';
import { AUTHORIZATION_FLAGS } from '../options/authorization.js';

const FLAGS = { ...AUTHENTICATION_FLAGS, ...AUTHORIZATION_FLAGS };
type Key = keyof typeof FLAGS;

const isGiven = (o: ApiServerOptions, key: Key): boolean => {
  const value = o[key];
  return typeof value === 'string' ? value !== '' : Array.isArray(value) && value.length > 0;
};

/** Flags that mean nothing without another one. */
const NEEDS: readonly (readonly [key: Key, needed: Key])[] = [
  ['requestHeaderClientCaFile', 'requestHeaderUsernameHeaders'],
  ['requestHeaderUsernameHeaders', 'requestHeaderClientCaFile'],
  ['requestHeaderAllowedNames', 'requestHeaderClientCaFile'],
];

/** Modes that need a file, and files that need a mode. */
const FILES_OF_MODES: readonly (readonly [mode: string, key: Key])[] = [
  ['ABAC', 'authorizationPolicyFile'],
  ['Webhook', 'authorizationWebhookConfigFile'],
];

/** Rules between the flags of authentication and authorization. @throws {FlagError} */
export function checkAccess(o: ApiServerOptions): void {
  for (const [key, needed] of NEEDS) {
    if (isGiven(o, key) && !isGiven(o, needed))
      throw new FlagError(`--${FLAGS[key].flag} needs --${FLAGS[needed].flag}`);
  }
  const { authorizationMode: modes } = o;
  const mode = `--${FLAGS.authorizationMode.flag}`;
  if (modes.length === 0) throw new FlagError(`${mode} needs at least one mode`);
  if (new Set(modes).size < modes.length) throw new FlagError(`${mode} names a mode twice`);
  for (const [name, key] of FILES_OF_MODES) {
    const file = `--${FLAGS[key].flag}`;
    if (modes.includes(name) && !isGiven(o, key)) throw new FlagError(`${mode}=${name} needs ${file}`);
    if (!modes.includes(name) && isGiven(o, key)) throw new FlagError(`${file} needs ${mode}=${name}`);
  }
}
