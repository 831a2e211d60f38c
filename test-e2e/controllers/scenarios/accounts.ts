import type { Live } from '../../../services/client/rest/resource-type.js';
import type { Secret } from '../../../services/machinery/types/generated/core.v1.js';
import { scenarios, types, words, type Look, type ScenarioContext } from './scenario.js';

const ROOT_CA = words.rootCaConfigMap;
const TOKEN_TYPE = words.secretTypes.serviceAccountToken;
const { serviceAccountName, serviceAccountUid } = words.annotations;

const text = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
const isPem = (pem = ''): boolean => /^-----BEGIN CERTIFICATE-----\n[^]+\n-----END CERTIFICATE-----\n*$/.test(pem);

interface Claims {
  readonly [name: string]: unknown;
}

function claimsOf(token: string): Claims {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
}

/** What a token Secret holds. */
function secretFacts({ type, metadata: { annotations, finalizers }, data = {} }: Live<Secret>): object {
  const token = text(data['token']);
  return {
    type,
    annotations,
    finalizers,
    data: Object.keys(data).sort(),
    namespace: text(data['namespace']),
    authorities: isPem(text(data['ca.crt'])) ? 'certificates' : 'none',
    claims: token === '' ? 'none' : claimsOf(token),
  };
}

const factsOfToken = (account: string, secret: string): object => ({
  type: TOKEN_TYPE,
  annotations: { [serviceAccountName]: account, [serviceAccountUid]: '<uid>' },
  data: ['ca.crt', 'namespace', 'token'],
  namespace: 'scenario',
  authorities: 'certificates',
  claims: {
    iss: words.legacyTokenIssuer,
    sub: `system:serviceaccount:scenario:${account}`,
    [words.legacyTokenClaims.namespace]: 'scenario',
    [words.legacyTokenClaims.secretName]: secret,
    [words.legacyTokenClaims.serviceAccountName]: account,
    [words.legacyTokenClaims.serviceAccountUid]: '<uid>',
  },
});

const isFilled = ({ data = {} }: Secret): boolean => data['token'] !== undefined;

const tokenSecret = (namespace: string, name: string, account: string, uid?: string): Secret => ({
  metadata: {
    name,
    namespace,
    annotations: { [serviceAccountName]: account, ...(uid && { [serviceAccountUid]: uid }) },
  },
  type: TOKEN_TYPE,
});

/** The account, as soon as it refers to a Secret, and the name of that. */
async function referring(c: ScenarioContext, namespace: string, name: string, except = ''): Promise<string> {
  const account = await c.comes(types.serviceAccounts, name, namespace, ({ secrets = [] }) =>
    secrets.some((it) => it.name !== except),
  );
  return account.secrets?.find((it) => it.name !== except)?.name ?? '';
}

/** An account with its Secrets: those that it refers to, and those that are there. */
const accountFacts =
  (c: ScenarioContext, namespace: string, name: string): Look =>
  async () => {
    const account = await c.find(types.serviceAccounts, name, namespace);
    const all = await c.list(types.secrets, namespace);
    const own = all.filter(({ metadata }) => metadata.annotations?.[serviceAccountName] === name);
    return {
      account: account === undefined ? 'gone' : { refersTo: (account.secrets ?? []).map((it) => it.name) },
      secrets: own.map(({ metadata }) => metadata.name).sort(),
    };
  };

const publishes =
  (c: ScenarioContext, namespace: string): Look =>
  async () => {
    const map = await c.find(types.configMaps, ROOT_CA, namespace);
    if (map === undefined) return 'gone';
    const { data = {}, metadata } = map;
    return {
      keys: Object.keys(data),
      isPem: isPem(data['ca.crt']),
      annotations: Object.keys(metadata.annotations ?? {}),
    };
  };

const PUBLISHED = { keys: ['ca.crt'], isPem: true, annotations: [words.annotations.description] };

export const ACCOUNTS = scenarios('accounts', [
  {
    name: 'a new namespace has one, with a token in a Secret',
    expected: { account: { refersTo: ['default-token-<chosen>'] }, secrets: ['default-token-<chosen>'] },
    run: async (c) => accountFacts(c, await c.namespace(), 'default'),
  },
  {
    name: 'that of a namespace comes again, as another one, with another token',
    expected: {
      account: { refersTo: ['default-token-<chosen>'] },
      secrets: ['default-token-<chosen>'],
      isAnother: true,
    },
    run: async (c) => {
      const namespace = await c.namespace();
      const secret = await referring(c, namespace, 'default');
      const first = await c.comes(types.serviceAccounts, 'default', namespace);
      await c.delete(types.serviceAccounts, first);
      const look = accountFacts(c, namespace, 'default');
      return async () => {
        const account = await c.find(types.serviceAccounts, 'default', namespace);
        const old = await c.find(types.secrets, secret, namespace);
        const isAnother = account !== undefined && account.metadata.uid !== first.metadata.uid && old === undefined;
        return { ...((await look()) as object), isAnother };
      };
    },
  },
  {
    name: 'the authorities are published in a new namespace',
    expected: PUBLISHED,
    run: async (c) => publishes(c, await c.namespace()),
  },
  {
    name: 'published authorities come again, and are put right',
    expected: PUBLISHED,
    run: async (c) => {
      const namespace = await c.namespace();
      const first = await c.comes(types.configMaps, ROOT_CA, namespace);
      await c.delete(types.configMaps, first);
      const second = await c.comes(types.configMaps, ROOT_CA, namespace, ({ metadata }) => metadata.uid !== first.metadata.uid); // prettier-ignore
      await c.patch(types.configMaps, second, { data: { 'ca.crt': 'x', more: 'x' } });
      return publishes(c, namespace);
    },
  },
  {
    name: 'a Secret that names one is filled',
    expected: factsOfToken('robot', 'mine'),
    run: async (c) => {
      const namespace = await c.namespace();
      await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace } });
      await c.create(types.secrets, tokenSecret(namespace, 'mine', 'robot'));
      return async () => secretFacts(await c.comes(types.secrets, 'mine', namespace, isFilled));
    },
  },
  {
    name: 'a token that is taken out of its Secret is made again',
    expected: factsOfToken('robot', 'mine'),
    run: async (c) => {
      const namespace = await c.namespace();
      await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace } });
      await c.create(types.secrets, tokenSecret(namespace, 'mine', 'robot'));
      const filled = await c.comes(types.secrets, 'mine', namespace, isFilled);
      await c.patch(types.secrets, filled, { data: { token: null, namespace: null } });
      return async () => secretFacts(await c.comes(types.secrets, 'mine', namespace, isFilled));
    },
  },
  {
    name: 'a Secret goes that names one that is not there, or another of the name',
    expected: { lost: 'gone', old: 'gone', kept: { filled: true } },
    run: async (c) => {
      const namespace = await c.namespace();
      await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace } });
      const other = '01234567-89ab-cdef-0123-456789abcdef';
      await c.create(types.secrets, tokenSecret(namespace, 'lost', 'nobody'));
      await c.create(types.secrets, tokenSecret(namespace, 'old', 'robot', other));
      await c.create(types.secrets, tokenSecret(namespace, 'kept', 'robot'));
      const look = async (name: string): Promise<unknown> => {
        const secret = await c.find(types.secrets, name, namespace);
        return secret === undefined ? 'gone' : { filled: isFilled(secret) };
      };
      return async () => ({ lost: await look('lost'), old: await look('old'), kept: await look('kept') });
    },
  },
  {
    name: 'all Secrets of one go with it',
    expected: { account: 'gone', secrets: [] },
    run: async (c) => {
      const namespace = await c.namespace();
      const account = await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace } });
      await c.create(types.secrets, tokenSecret(namespace, 'mine', 'robot'));
      await c.comes(types.secrets, 'mine', namespace, isFilled);
      await referring(c, namespace, 'robot');
      await c.delete(types.serviceAccounts, account);
      return accountFacts(c, namespace, 'robot');
    },
  },
  {
    name: 'one gets another token when its Secret is deleted',
    expected: { account: { refersTo: ['robot-token-<chosen>'] }, secrets: ['robot-token-<chosen>'] },
    run: async (c) => {
      const namespace = await c.namespace();
      await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace } });
      const name = await referring(c, namespace, 'robot');
      await c.delete(types.secrets, await c.comes(types.secrets, name, namespace));
      await referring(c, namespace, 'robot', name);
      return accountFacts(c, namespace, 'robot');
    },
  },
  {
    name: 'a reference to a Secret goes with it, and one to a Secret of another sort stays',
    expected: ['other', 'absent', 'robot-token-<chosen>'],
    run: async (c) => {
      const namespace = await c.namespace();
      await c.create(types.secrets, { metadata: { name: 'other', namespace } });
      const secrets = ['mine', 'other', 'absent'].map((name) => ({ name }));
      await c.create(types.serviceAccounts, { metadata: { name: 'robot', namespace }, secrets });
      await c.create(types.secrets, tokenSecret(namespace, 'mine', 'robot'));
      await c.delete(types.secrets, await c.comes(types.secrets, 'mine', namespace, isFilled));
      return async () => {
        const { secrets: left = [] } = await c.comes(types.serviceAccounts, 'robot', namespace);
        return left.map(({ name }) => name);
      };
    },
  },
]);
