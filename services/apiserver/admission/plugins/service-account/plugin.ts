import { rest } from '../../../../machinery/loop/repeat.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { ServiceAccount } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { isMirror, namedBy } from '../../../authorization/node/references.js';
import type { CachedObject } from '../../../cache/cached-object.js';
import { derived, type AdmissionObjects } from '../../objects.js';
import { specOf, type PodSpec } from '../../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { mountableSecrets, unmountable, unmountableEphemeral, type MountableSecrets } from './mountable-secrets.js';
import { mountToken, tokenWords, type TokenWords } from './token-volume.js';

export interface ServiceAccountDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'cached' | 'newest'>;
  /** Waits, at most until a signal fires. Default: with a timer. */
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const ACCOUNTS = { group: '', resource: 'serviceaccounts' };
const DEFAULT_ACCOUNT = 'default';
/** A namespace gets its default account right after it was made: so long a pod in it waits. 2 s in all. */
const WAIT = { times: 40, eachMs: 50 };

/** As much of an account as pods need. */
interface Account {
  readonly name: string;
  readonly automount: boolean;
  readonly imagePullSecrets: readonly { readonly name?: string }[];
  /** undefined: any secret may be used. */
  readonly mountable: MountableSecrets | undefined;
}

/** Pods run as a service account that is there, and find its token, unless they or it say otherwise (spec 2, 5.4). */
export function serviceAccount(d: ServiceAccountDeps): AdmissionPlugin {
  const { vocabulary, objects, rest: wait = rest } = d;
  const { mirrorPod, enforceMountableSecrets } = vocabulary.annotations;
  const shared: Shared = {
    mirrorPod,
    words: tokenWords(vocabulary),
    objects,
    wait,
    read: derived((object) => accountOf(object as ServiceAccount, enforceMountableSecrets)),
  };
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: (request) => (isCreation(request) ? adorn(shared, request) : undefined),
    validate: (request) => (isCreation(request) || addsEphemeral(request) ? check(shared, request) : undefined),
  };
}

interface Shared {
  readonly mirrorPod: string;
  readonly words: TokenWords;
  readonly objects: ServiceAccountDeps['objects'];
  readonly wait: NonNullable<ServiceAccountDeps['rest']>;
  readonly read: (of: CachedObject) => Account;
}

const isCreation = ({ operation, subresource }: AdmissionRequest): boolean =>
  operation === 'CREATE' && subresource === '';
const addsEphemeral = ({ operation, subresource }: AdmissionRequest): boolean =>
  operation === 'UPDATE' && subresource === 'ephemeralcontainers';

function accountOf(account: ServiceAccount, enforceMountableSecrets: string): Account {
  const { metadata, automountServiceAccountToken = true, imagePullSecrets = [], secrets = [] } = account;
  const enforced = metadata?.annotations?.[enforceMountableSecrets] ?? '';
  return {
    name: metadata?.name ?? '',
    automount: automountServiceAccountToken,
    imagePullSecrets,
    mountable: TRUE.has(enforced) ? mountableSecrets(secrets, imagePullSecrets) : undefined,
  };
}

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

async function adorn(shared: Shared, request: AdmissionRequest): Promise<void> {
  const { object } = request;
  if (object === undefined || isGoodMirror(shared, request, object)) return;
  const spec = specOf(object);
  if ((spec.serviceAccountName ?? '') === '') spec.serviceAccountName = DEFAULT_ACCOUNT;
  spec.serviceAccount = spec.serviceAccountName ?? ''; // the older name of the same
  const account = await found(shared, request, spec);
  if (spec.automountServiceAccountToken ?? account.automount) mountToken(spec, shared.words);
  if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets.length > 0) {
    spec.imagePullSecrets = account.imagePullSecrets.map((reference) => ({ ...reference }));
  }
}

async function check(shared: Shared, request: AdmissionRequest): Promise<void> {
  const { object, namespace, name } = request;
  if (object === undefined) return;
  const spec = specOf(object);
  const isNew = isCreation(request);
  if (isNew && isGoodMirror(shared, request, object)) return;
  if ((spec.serviceAccountName ?? '') === '') {
    throw refused(request, `no service account specified for pod ${namespace}/${name}`);
  }
  const account = await found(shared, request, spec);
  if (account.mountable === undefined) return;
  const problem = (isNew ? unmountable : unmountableEphemeral)(spec, account.mountable);
  if (problem === '') return;
  throw refused(request, problem.replace('%s', `because service account ${account.name}`));
}

/** Whether a new pod is a mirror pod. @throws {StatusError} Forbidden, for one that names what it may not */
function isGoodMirror({ mirrorPod }: Shared, request: AdmissionRequest, object: ApiObject): boolean {
  if (!isMirror(object, mirrorPod)) return false;
  const why = mirrorNames(object, specOf(object));
  if (why !== '') throw refused(request, `a mirror pod may not ${why}`);
  return true;
}

/** A mirror pod is made by the agent of a node: it would give its node the right to read what it names. */
function mirrorNames(pod: object, spec: PodSpec): string {
  if ((spec.serviceAccountName ?? '') !== '') return 'reference service accounts';
  if ([...namedBy(pod)].some((reference) => reference.startsWith('secret/'))) return 'reference secrets';
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.some(({ serviceAccountToken }) => serviceAccountToken != null)
    ? 'use ServiceAccountToken volume projections'
    : '';
}

/** @throws {StatusError} Forbidden, where there is no such account */
async function found(shared: Shared, request: AdmissionRequest, spec: PodSpec): Promise<Account> {
  const { namespace } = request;
  const { serviceAccountName: name = '' } = spec;
  const account = shared.objects.cached(ACCOUNTS, namespace, name) ?? (await arriving(shared, request, name));
  if (account !== undefined) return shared.read(account);
  const why = `serviceaccount ${JSON.stringify(name)} not found`;
  throw refused(request, `error looking up service account ${namespace}/${name}: ${why}`);
}

/** The store is asked: another server may have just made it. The default account is waited for. */
async function arriving(shared: Shared, request: AdmissionRequest, name: string): Promise<CachedObject | undefined> {
  const { objects, wait } = shared;
  const { namespace, signal } = request;
  const account = await objects.newest(ACCOUNTS, namespace, name, request);
  if (account !== undefined || name !== DEFAULT_ACCOUNT) return account;
  for (let i = 0; i < WAIT.times; i++) {
    await wait(WAIT.eachMs, signal);
    signal.throwIfAborted();
    const cached = objects.cached(ACCOUNTS, namespace, name);
    if (cached !== undefined) return cached;
  }
  return objects.newest(ACCOUNTS, namespace, name, request);
}
