import assert from 'node:assert/strict';
import { CredentialError, type Credentials } from '../../client/credentials/credential.js';
import { builtInTypes } from '../../client/rest/built-in-types.js';
import { ApiError, type ApiClient } from '../../client/rest/client.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { accountCredentials } from './account-credentials.js';

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;

describe('accountCredentials()', () => {
  let time: number;
  let asked: string[];
  let failing: Error | undefined;
  let hasAccount: boolean;
  let lifeMs: number;
  let credentials: Credentials;
  beforeEach(() => {
    [time, asked, failing, hasAccount, lifeMs] = [0, [], undefined, true, HOUR_MS];
    const warn = (): void => void asked.push('warned');
    const log = { debug: () => undefined, info: () => undefined, warn, error: () => undefined };
    const account = { namespace: 'system', name: 'it' };
    const types = builtInTypes(vocabulary('platform'));
    credentials = accountCredentials({ client, types, account, log, now: () => time });
  });
  afterEach(() => credentials.close());

  const notFound = (): ApiError =>
    new ApiError(404, 'not found', { status: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound', message: '' } as never }); // prettier-ignore
  const post = (name: object, subresource: string): Promise<object> => {
    asked.push(`${subresource} ${Object.values(name).join('/')}`);
    if (failing !== undefined) return Promise.reject(failing);
    if (!hasAccount) return Promise.reject(notFound());
    const expirationTimestamp = new Date(Date.now() + lifeMs).toISOString();
    return Promise.resolve({ status: { token: `token-${asked.length}`, expirationTimestamp } });
  };
  const create = ({ metadata }: { metadata: object }): Promise<object> => {
    asked.push(`create ${Object.values(metadata).join('/')}`);
    hasAccount = true;
    return Promise.resolve({});
  };
  const client = { resource: () => ({ post, create }) } as unknown as ApiClient;
  const token = async (): Promise<string> => (await credentials.current(never)).headers['authorization'] ?? '';

  it('asks for one token, however many want it, and uses it until four fifths of its life are over', async () => {
    assert.deepEqual(await Promise.all([token(), token()]), ['Bearer token-1', 'Bearer token-1']);
    time = HOUR_MS * 0.8 - 2_000;
    assert.equal(await token(), 'Bearer token-1');
    time = HOUR_MS * 0.8;
    assert.equal(await token(), 'Bearer token-2');
    assert.deepEqual(asked, ['token system/it', 'token system/it']);
  });

  it('believes a server that lets it live for less', async () => {
    lifeMs = 600_000;
    await token();
    time = 480_000;
    assert.equal(await token(), 'Bearer token-2');
  });

  it('makes the account when it is missing', async () => {
    hasAccount = false;
    assert.equal(await token(), 'Bearer token-3');
    assert.deepEqual(asked, ['token system/it', 'create system/it', 'token system/it']);
  });

  it('gives out another one when the first is refused, but not when an older one is', async () => {
    const first = await credentials.current(never);
    assert.equal(credentials.refused(first), true);
    const second = await credentials.current(never);
    assert.notEqual(second, first);
    credentials.refused(first);
    assert.equal(await credentials.current(never), second);
  });

  it('goes on with the old one while there is no new one, until its end', async () => {
    await token();
    failing = new Error('away');
    time = HOUR_MS * 0.8;
    assert.equal(await token(), 'Bearer token-1');
    const tries = asked.length;
    assert.equal(await token(), 'Bearer token-1');
    assert.equal(asked.length, tries, 'it is not asked for each time');
    time = HOUR_MS;
    await assert.rejects(token(), CredentialError);
    failing = undefined;
    assert.match(await token(), /^Bearer/);
  });

  it('has none when the first one cannot be had', async () => {
    failing = new Error('away');
    await assert.rejects(token(), (err) => err instanceof CredentialError && !err.message.includes('token-'));
  });
});
