import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ApiClient, type ResourceClient } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Secret } from '../machinery/types/generated/core.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { FILES, renewals, type Change, type Files } from './renew.js';
import type { Wanted } from './wanted.js';

export interface SecretPlace {
  readonly client: Pick<ApiClient, 'resource'>;
  readonly namespace: string;
  /** Put before the names of sets, e.g. `control-plane-`. */
  readonly prefix: string;
  /** Of secrets that are made. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Runs that found that another one was writing. */
const ATTEMPTS = 5;

/**
 * Makes and renews the sets as secrets. Two that do so at once do not mix: who comes second reads again what is there.
 *
 * @param tell Called for each secret that was written.
 */
export async function renewSecrets(
  wanted: Wanted,
  place: SecretPlace,
  o: { readonly now: () => Date; readonly tell: (change: Change) => void },
  signal: AbortSignal,
): Promise<void> {
  const secrets = place.client.resource(builtInTypes(vocabulary('kubernetes')).secrets);
  for (let attempt = 1; ; attempt++) {
    const present = await readSecrets(wanted, place, secrets, signal);
    const changes = await renewals(wanted, (name) => filesOf(present.get(name)), o.now());
    try {
      for (const change of changes) {
        await write(change, present.get(change.name), place, secrets, signal);
        o.tell(change);
      }
      return;
    } catch (err) {
      if (attempt === ATTEMPTS || !isApiError(err, 'Conflict', 'AlreadyExists')) throw err;
    }
  }
}

async function readSecrets(
  { authorities, keys, leaves }: Wanted,
  { namespace, prefix }: SecretPlace,
  secrets: ResourceClient<Secret>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Live<Secret>>> {
  const found = new Map<string, Live<Secret>>();
  for (const name of [...authorities, ...keys, ...leaves.map((it) => it.name)]) {
    try {
      found.set(name, await secrets.get({ namespace, name: prefix + name }, signal));
    } catch (err) {
      if (!isApiError(err, 'NotFound')) throw err;
    }
  }
  return found;
}

/** What somebody put beside the files is left there. An empty text is a file that is yet to be made. */
function filesOf(secret: Live<Secret> | undefined): Files | undefined {
  if (secret === undefined) return undefined;
  const entries = Object.values(FILES).flatMap((file): [string, string][] => {
    const text = Buffer.from(secret.data?.[file] ?? '', 'base64').toString();
    return text === '' ? [] : [[file, text]];
  });
  return Object.fromEntries(entries);
}

async function write(
  { name, files }: Change,
  present: Live<Secret> | undefined,
  { namespace, prefix, labels }: SecretPlace,
  secrets: ResourceClient<Secret>,
  signal: AbortSignal,
): Promise<void> {
  const encoded = Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString('base64')]);
  const data = Object.fromEntries(encoded) as Record<string, string>;
  if (present !== undefined) {
    await secrets.update({ ...present, data: { ...present.data, ...data } }, {}, signal);
    return;
  }
  const metadata = { namespace, name: prefix + name, labels };
  const type = FILES.cert in files ? 'kubernetes.io/tls' : 'Opaque';
  await secrets.create({ metadata, type, data }, {}, signal);
}
