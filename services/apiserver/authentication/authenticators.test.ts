import assert from 'node:assert/strict';
import { parseFlags } from '../../machinery/flags/flags.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from '../options/flags.js';
import type { Context } from '../request/request.js';
import { AUTHENTICATORS, openAuthentication, TOKEN_AUTHENTICATORS, type AuthenticationDeps } from './authenticators.js';

const { signal } = new AbortController();
const deps = { vocabulary: vocabulary('platform'), signal } as AuthenticationDeps; // all that is looked at without flags
const optionsOf = (...argv: readonly string[]): ApiServerOptions => parseFlags(API_SERVER_FLAGS, argv).options;

describe('openAuthentication()', () => {
  it('opens what needs no flag', async () => {
    const { authenticators, issuerDocuments } = await openAuthentication(optionsOf(), deps);
    const names = authenticators.map(({ name }) => name);
    assert.deepEqual([names, issuerDocuments], [['bearer', 'web-socket-protocol'], undefined]);
  });

  it('gives each the name of its line', async () => {
    for (const { name, open } of AUTHENTICATORS.filter(({ flag }) => flag === undefined)) {
      assert.equal((await open(optionsOf(), { ...deps, tokens: undefined as never }))?.name, name);
    }
  });
});

describe('An authenticator that is added by one line', () => {
  const alice = { user: { name: 'alice', uid: '', groups: [], extra: {} } };
  const tables = {
    requests: [
      {
        name: 'fixture',
        flag: 'clientCaFile', // stands for a flag of its own
        open: ({ clientCaFile }: ApiServerOptions) => ({
          name: 'fixture',
          authenticate: () => (clientCaFile === 'there' ? alice : undefined),
        }),
      } as const,
    ],
    tokens: [
      ...TOKEN_AUTHENTICATORS,
      {
        name: 'fixture-token',
        open: () => ({ name: 'fixture-token', authenticateToken: (t: string) => (t === 'abc' ? alice : undefined) }),
      },
    ],
  };

  it('is asked when its flag is set', async () => {
    const { authenticators } = await openAuthentication(optionsOf('--client-ca-file=there'), deps, tables);
    assert.deepEqual(
      authenticators.map((it) => it.authenticate({} as Context)),
      [alice],
    );
    const without = await openAuthentication(optionsOf(), deps, tables);
    assert.deepEqual(without.authenticators, []);
  });

  it('is asked for bearer tokens', async () => {
    const { tokenReviewer } = await openAuthentication(optionsOf(), deps, tables);
    assert.deepEqual(await tokenReviewer.authenticate('abc'), alice);
    assert.throws(() => tokenReviewer.authenticate('def'), /knows the token/);
  });
});
