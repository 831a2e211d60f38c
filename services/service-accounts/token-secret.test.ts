import assert from 'node:assert/strict';
import type { Live } from '../client/rest/resource-type.js';
import type { Secret, ServiceAccount } from '../machinery/types/generated/core.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import {
  accountNamedBy,
  belongsTo,
  filled,
  isMadeFor,
  newTokenSecret,
  withoutReference,
  withReference,
} from './token-secret.js';

const words = vocabulary('platform');
const NAME = 'platform.io/service-account.name';
const UID = 'platform.io/service-account.uid';
const TYPE = 'platform.io/service-account-token';

const account: Live<ServiceAccount> = {
  kind: 'ServiceAccount',
  apiVersion: 'v1',
  metadata: { name: 'robot', namespace: 'ns', uid: 'u-1', resourceVersion: '1' },
};
const secret = (annotations: Record<string, string>, more: Partial<Secret> = {}): Secret => ({
  metadata: { name: 's', namespace: 'ns', annotations },
  type: TYPE,
  ...more,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('secrets of service account tokens', () => {
  const signed: object[] = [];
  const signer = {
    sign: (claims: object): Promise<string> => {
      signed.push(claims);
      return Promise.resolve(`token-${signed.length}`);
    },
  };
  const deps = { signer, authorities: 'CERTIFICATES', vocabulary: words };
  beforeEach(() => signed.splice(0));

  it('name their account by annotations', () => {
    assert.deepEqual(accountNamedBy(secret({ [NAME]: 'robot', [UID]: 'u-1' }), words), {
      namespace: 'ns',
      name: 'robot',
      uid: 'u-1',
    });
    assert.equal(accountNamedBy(secret({ [NAME]: 'robot' }, { type: 'Opaque' }), words), undefined);
    assert.equal(accountNamedBy(secret({ [UID]: 'u-1' }), words), undefined);
    assert.equal(accountNamedBy(secret({ [NAME]: '' }), words), undefined);
  });

  for (const [why, object, expected] of [
    ['the name and the uid', secret({ [NAME]: 'robot', [UID]: 'u-1' }), true],
    ['the name alone', secret({ [NAME]: 'robot' }), true],
    ['an account that had the name before', secret({ [NAME]: 'robot', [UID]: 'u-0' }), false],
    ['another name', secret({ [NAME]: 'other', [UID]: 'u-1' }), false],
    ['another namespace', { ...secret({ [NAME]: 'robot' }), metadata: { namespace: 'b', annotations: { [NAME]: 'robot' } } }, false], // prettier-ignore
    ['another type', secret({ [NAME]: 'robot' }, { type: 'Opaque' }), false],
  ] as const) {
    it(`${expected ? 'belong' : 'do not belong'} to an account when they say ${why}`, () =>
      assert.equal(belongsTo(object, account, words), expected));
  }

  it('are filled with all that they lack', async () => {
    const given = secret({ [NAME]: 'robot', mine: 'x' }, { data: { extra: 'eA==' } });
    assert.deepEqual(await filled(given, account, deps), {
      ...given,
      metadata: { name: 's', namespace: 'ns', annotations: { [NAME]: 'robot', mine: 'x', [UID]: 'u-1' } },
      data: { extra: 'eA==', 'ca.crt': base64('CERTIFICATES'), namespace: base64('ns'), token: base64('token-1') },
    });
    assert.deepEqual(signed, [
      {
        iss: 'platform/serviceaccount',
        sub: 'system:serviceaccount:ns:robot',
        'platform.io/serviceaccount/namespace': 'ns',
        'platform.io/serviceaccount/secret.name': 's',
        'platform.io/serviceaccount/service-account.name': 'robot',
        'platform.io/serviceaccount/service-account.uid': 'u-1',
      },
    ]);
  });

  it('keep a token and a namespace that are there, and get new authorities', async () => {
    const data = { token: base64('mine'), namespace: base64('else'), 'ca.crt': base64('OLD') };
    const next = await filled(secret({ [NAME]: 'robot', [UID]: 'u-1' }, { data }), account, deps);
    assert.deepEqual(next.data, { ...data, 'ca.crt': base64('CERTIFICATES') });
    assert.equal(signed.length, 0);
  });

  it('stay the same object when they lack nothing', async () => {
    const whole = await filled(secret({ [NAME]: 'robot' }), account, deps);
    assert.equal(await filled(whole, account, deps), whole);
    const without = { ...deps, authorities: undefined };
    assert.equal(await filled(whole, account, without), whole);
    assert.equal((await filled(secret({ [NAME]: 'robot' }), account, without)).data?.['ca.crt'], undefined);
  });

  it('are filled again where a token is empty, and marked where the uid is missing', async () => {
    const whole = await filled(secret({ [NAME]: 'robot' }), account, deps);
    const emptied = await filled<Secret>({ ...whole, data: { ...whole.data, token: '' } }, account, deps);
    assert.equal(emptied.data?.['token'], base64('token-2'));
    const unmarked: Secret = { ...whole, metadata: { ...whole.metadata, annotations: { [NAME]: 'robot' } } };
    assert.equal((await filled(unmarked, account, deps)).metadata?.annotations?.[UID], 'u-1');
  });

  it('that are made for an account are known by their names', () => {
    const made = newTokenSecret(account, words);
    assert.equal(belongsTo(made, account, words), true);
    const name = made.metadata?.name ?? '';
    assert.match(name, /^robot-token-[a-z0-9]{5}$/);
    assert.equal(isMadeFor('robot', name), true);
    for (const other of [
      'robot-token-',
      'robot-token-abcdef',
      'robot-token-ab.de',
      'robot-abcde',
      'robo-token-abcde',
    ]) {
      assert.equal(isMadeFor('robot', other), false, other);
    }
    assert.notEqual(newTokenSecret(account, words).metadata?.name, name);
  });

  it('of accounts with long names have names that are allowed', () => {
    const long = { ...account, metadata: { ...account.metadata, name: 'a'.repeat(253) } };
    const { name = '' } = newTokenSecret(long, words).metadata ?? {};
    assert.ok(name.length <= 253);
    assert.equal(isMadeFor(long.metadata.name, name), true);
  });

  it('are referred to once', () => {
    const one = withReference({ ...account, secrets: [{ name: 'a' }] }, 'b');
    assert.deepEqual(one.secrets, [{ name: 'a' }, { name: 'b' }]);
    assert.equal(withReference(one, 'b'), one);
    assert.deepEqual(withoutReference(one, 'a').secrets, [{ name: 'b' }]);
    assert.equal(withoutReference(one, 'c'), one);
    assert.equal(withoutReference(account, 'c'), account);
  });
});
