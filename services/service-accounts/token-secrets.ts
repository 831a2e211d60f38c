import type { Informer } from '../client/informer/informer.js';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ResourceClient } from '../client/rest/client.js';
import { keyOf, nameOf, type Live, type ObjectName } from '../client/rest/resource-type.js';
import { retryOnConflict } from '../client/rest/retry-on-conflict.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import { featureGates } from '../machinery/features/feature-gates.js';
import { fileSigner, type TokenSigner } from '../machinery/jwt/token-signer.js';
import type { Secret, ServiceAccount } from '../machinery/types/generated/core.v1.js';
import { isNamespaceEnding } from './active-namespace.js';
import { followRootCa, type RootCa, type RootCaOptions } from './root-ca.js';
import {
  accountNamedBy,
  belongsTo,
  filled,
  isMadeFor,
  newTokenSecret,
  withoutReference,
  withReference,
} from './token-secret.js';

export interface TokenSecretsOptions extends RootCaOptions {
  readonly serviceAccountPrivateKeyFile: string;
  readonly concurrentServiceAccountTokenSyncs: number;
  readonly featureGates: ReadonlyMap<string, string>;
}

/** Index of token secrets by `namespace/name` of the account that they name, and of accounts by that of a Secret. */
const BY_ACCOUNT = 'account';
const BY_SECRET = 'secret';
/** A key names what has changed: `account/NAMESPACE/NAME` or `secret/NAMESPACE/NAME`. */
const ACCOUNT = 'account/';
const SECRET = 'secret/';
/** What informers have not shown by then is looked at again. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Keeps accounts and their token secrets consistent (spec 2, 5.4): fills a Secret that names an account with its token, makes
 * one for each account, deletes those whose account is gone, and takes references to those that are gone out of accounts.
 */
export function openTokenSecrets(o: TokenSecretsOptions, d: ControllerDeps): Controller | undefined {
  if (o.serviceAccountPrivateKeyFile === '') {
    d.log.warn('Secrets of service accounts get no tokens: --service-account-private-key-file is not given');
    return undefined;
  }
  const signer = fileSigner(o.serviceAccountPrivateKeyFile, d.log);
  const rootCa = followRootCa(o, d);
  const makesSecrets = !featureGates(o.featureGates).gates.enabled('LegacyServiceAccountTokenNoAutoGeneration');
  const { client, informers, vocabulary, queue } = d;
  const tokens = new TokenSecrets({ client, informers, vocabulary, queue, signer, rootCa, makesSecrets });
  return {
    informers: [tokens.accounts, tokens.secrets],
    workers: o.concurrentServiceAccountTokenSyncs,
    reconcile: (key, signal) => tokens.reconcile(key, signal),
    ...(rootCa === undefined
      ? {}
      : { run: (signal: AbortSignal): Promise<void> => rootCa.follow(() => tokens.lookAtSecrets(), signal) }),
  };
}

interface TokenSecretsDeps extends Pick<ControllerDeps, 'client' | 'informers' | 'vocabulary' | 'queue'> {
  readonly signer: TokenSigner;
  readonly rootCa: RootCa | undefined;
  /** Whether accounts without one get a token Secret. */
  readonly makesSecrets: boolean;
}

class TokenSecrets {
  readonly accounts: Informer<ServiceAccount>;
  readonly secrets: Informer<Secret>;
  readonly #d: TokenSecretsDeps;
  readonly #accountClient: ResourceClient<ServiceAccount>;
  readonly #secretClient: ResourceClient<Secret>;

  constructor(d: TokenSecretsDeps) {
    const { client, informers, vocabulary, queue } = d;
    const types = builtInTypes(vocabulary);
    this.#d = d;
    this.#accountClient = client.resource(types.serviceAccounts);
    this.#secretClient = client.resource(types.secrets);
    this.accounts = informers.of(types.serviceAccounts);
    this.secrets = informers.of(types.secrets, { fieldSelector: `type=${vocabulary.secretTypes.serviceAccountToken}` });
    this.accounts.index(BY_SECRET, ({ metadata: { namespace = '' }, secrets = [] }) =>
      secrets.map(({ name = '' }) => `${namespace}/${name}`),
    );
    this.secrets.index(BY_ACCOUNT, (secret) => {
      const named = accountNamedBy(secret, vocabulary);
      return named === undefined ? [] : [keyOf(named)];
    });
    const addAccount = (account: Live<ServiceAccount>): void => queue.add(ACCOUNT + keyOf(account.metadata));
    const addSecret = (secret: Live<Secret>): void => queue.add(SECRET + keyOf(secret.metadata));
    this.accounts.handle({ added: addAccount, updated: addAccount, deleted: addAccount });
    this.secrets.handle({
      added: addSecret,
      updated: addSecret,
      deleted: (secret) => {
        addSecret(secret);
        const named = accountNamedBy(secret, vocabulary);
        if (named !== undefined) queue.add(ACCOUNT + keyOf(named)); // it may need another one
      },
    });
  }

  reconcile(key: string, signal: AbortSignal): Promise<Reconciled> {
    return key.startsWith(ACCOUNT)
      ? this.#reconcileAccount(key.slice(ACCOUNT.length), signal)
      : this.#reconcileSecret(key.slice(SECRET.length), signal);
  }

  /** The authorities that lie in the secrets have changed. */
  lookAtSecrets(): void {
    for (const { metadata } of this.secrets.store.list()) this.#d.queue.add(SECRET + keyOf(metadata));
  }

  async #reconcileAccount(key: string, signal: AbortSignal): Promise<Reconciled> {
    // Of an account that is gone, or has come back as another one, each Secret decides for itself.
    for (const { metadata } of this.secrets.store.by(BY_ACCOUNT, key)) this.#d.queue.add(SECRET + keyOf(metadata));
    const account = this.accounts.store.get(key);
    if (account === undefined || isEnding(account)) return undefined;
    this.#lookAtLost(account);
    if (!this.#d.makesSecrets) return undefined;
    if (this.#referenced(account).length > 0) return undefined;
    return this.#makeToken(account, signal);
  }

  /** References to secrets that may have gone while no process was there to see it. */
  #lookAtLost({ metadata: { name, namespace = '' }, secrets = [] }: Live<ServiceAccount>): void {
    for (const secret of secrets) {
      const key = `${namespace}/${secret.name ?? ''}`;
      if (isMadeFor(name, secret.name ?? '') && this.secrets.store.get(key) === undefined)
        this.#d.queue.add(SECRET + key);
    }
  }

  /** Secrets of the account that it refers to, as far as informers have shown them. */
  #referenced(account: Live<ServiceAccount>): readonly Live<Secret>[] {
    const { namespace = '' } = account.metadata;
    return (account.secrets ?? []).flatMap(({ name = '' }) => {
      const secret = this.secrets.store.get(`${namespace}/${name}`);
      return secret !== undefined && belongsTo(secret, account, this.#d.vocabulary) ? [secret] : [];
    });
  }

  /** Judges by the server's own word: of what was made a moment ago informers may know nothing yet. */
  async #makeToken(cached: Live<ServiceAccount>, signal: AbortSignal): Promise<Reconciled> {
    const { vocabulary } = this.#d;
    const account = await unlessGone(this.#accountClient.get(cached.metadata as ObjectName, signal));
    if (account === undefined || account.metadata.uid !== cached.metadata.uid || isEnding(account)) return undefined;
    for (const { name = '' } of account.secrets ?? []) {
      const { namespace } = account.metadata;
      const secret = await unlessGone(this.#secretClient.get({ ...(namespace && { namespace }), name }, signal));
      if (secret !== undefined && belongsTo(secret, account, vocabulary)) return { againInMs: LOOK_AGAIN_MS };
    }
    const left = this.#leftBehind(account);
    const made = left === undefined ? await this.#newSecret(account, signal) : undefined;
    const name = (left ?? made)?.metadata.name;
    if (name === undefined) return undefined;
    try {
      // Only onto the state that was looked at: another process may have done the same.
      await this.#accountClient.update(withReference(account, name), {}, signal);
    } catch (err) {
      if (made !== undefined) await this.#delete(made, signal);
      if (!isApiError(err, 'Conflict', 'NotFound')) throw err;
      return { againInMs: LOOK_AGAIN_MS };
    }
    return undefined;
  }

  /** A Secret that was made here for the account by a process which ended before it could refer to it. */
  #leftBehind(account: Live<ServiceAccount>): Live<Secret> | undefined {
    return this.secrets.store
      .by(BY_ACCOUNT, keyOf(account.metadata))
      .find(
        (secret) =>
          belongsTo(secret, account, this.#d.vocabulary) && isMadeFor(account.metadata.name, secret.metadata.name),
      );
  }

  async #newSecret(account: Live<ServiceAccount>, signal: AbortSignal): Promise<Live<Secret> | undefined> {
    const secret = await filled(newTokenSecret(account, this.#d.vocabulary), account, this.#filling);
    try {
      return await this.#secretClient.create(secret, {}, signal);
    } catch (err) {
      if (isNamespaceEnding(err)) return undefined;
      throw err;
    }
  }

  get #filling(): Parameters<typeof filled>[2] {
    const { signer, rootCa, vocabulary } = this.#d;
    return { signer, authorities: rootCa?.pem, vocabulary };
  }

  async #reconcileSecret(key: string, signal: AbortSignal): Promise<Reconciled> {
    const secret = this.secrets.store.get(key);
    if (secret === undefined) return this.#forget(key, signal);
    if (isEnding(secret)) return undefined;
    const named = accountNamedBy(secret, this.#d.vocabulary);
    if (named === undefined) return undefined;
    let account = this.accounts.store.get(keyOf(named));
    if (account === undefined || !belongsTo(secret, account, this.#d.vocabulary)) {
      account = await unlessGone(this.#accountClient.get(named, signal));
    }
    if (account === undefined || !belongsTo(secret, account, this.#d.vocabulary)) {
      await this.#delete(secret, signal);
    } else {
      await this.#fill(secret, account, signal);
    }
    return undefined;
  }

  async #fill(cached: Live<Secret>, account: Live<ServiceAccount>, signal: AbortSignal): Promise<void> {
    if ((await filled(cached, account, this.#filling)) === cached) return;
    // A token that is there already must not be replaced, so the state that is filled is the newest.
    const secret = await unlessGone(this.#secretClient.get(cached.metadata as ObjectName, signal));
    if (secret === undefined || isEnding(secret) || !belongsTo(secret, account, this.#d.vocabulary)) return;
    const wanted = await filled(secret, account, this.#filling);
    if (wanted === secret) return;
    try {
      await this.#secretClient.update(wanted, {}, signal);
    } catch (err) {
      if (!isApiError(err, 'Conflict') && !isNamespaceEnding(err)) throw err; // its change brings it back
    }
  }

  /** Takes references to a Secret that is gone out of the accounts that have one. */
  async #forget(key: string, signal: AbortSignal): Promise<Reconciled> {
    const { namespace, name } = nameOf(key);
    for (const account of this.accounts.store.by(BY_SECRET, key)) {
      const there = await unlessGone(this.#secretClient.get({ ...(namespace && { namespace }), name }, signal));
      if (there !== undefined) return undefined;
      await unlessGone(
        retryOnConflict(
          this.#accountClient,
          account.metadata as ObjectName,
          (current) => {
            const next = withoutReference(current, name);
            return next === current ? undefined : next;
          },
          {},
          signal,
        ),
      );
    }
    return undefined;
  }

  async #delete({ metadata }: Live<Secret>, signal: AbortSignal): Promise<void> {
    const { uid } = metadata;
    const deleting = this.#secretClient.delete(metadata, { preconditions: { uid } }, signal);
    await unlessGone(
      deleting.catch((err: unknown) => {
        if (!isApiError(err, 'Conflict')) throw err; // another one has the name now
      }),
    );
  }
}

const isEnding = ({ metadata }: Live<Secret> | Live<ServiceAccount>): boolean =>
  metadata.deletionTimestamp !== undefined;

/** undefined when the server says that there is no such object. */
async function unlessGone<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (err) {
    if (isApiError(err, 'NotFound')) return undefined;
    throw err;
  }
}
