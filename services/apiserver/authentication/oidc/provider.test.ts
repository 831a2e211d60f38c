import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { TestKey } from '../service-accounts/testing/tokens.js';
import { OpenIdProvider, type ProviderOptions } from './provider.js';
import { jwkOf, TestProvider } from './testing/provider.js';

const CONFIGURATION = '/.well-known/openid-configuration';

describe('OpenIdProvider', () => {
  const key = new TestKey();
  let signal: AbortSignal;
  let authority: TestAuthority;
  let others: TestAuthority;
  let caFile: string;
  let provider: TestProvider;
  let opened: OpenIdProvider[];
  before(() => {
    authority = new TestAuthority('here');
    others = new TestAuthority('elsewhere');
    caFile = join(authority.directory, 'ca.crt');
  });
  after(() => {
    authority.remove();
    others.remove();
  });
  beforeEach(async () => {
    signal = AbortSignal.timeout(60_000);
    opened = [];
    provider = await TestProvider.start(authority.issue('provider'));
    provider.keys = [jwkOf(key)];
  });
  afterEach(async () => {
    for (const it of opened) it.close();
    await provider.leave();
  });

  const open = (o: Partial<ProviderOptions> = {}): OpenIdProvider => {
    const algorithms = new Set(['ES256']);
    const it = new OpenIdProvider({ issuer: provider.issuer, caFile, algorithms, userAgent: 'test', ...o });
    opened.push(it);
    return it;
  };
  const answering =
    (status: number, body: string, headers = {}) =>
    (_: string, res: ServerResponse): void =>
      void res.writeHead(status, headers).end(body);

  const configurations: readonly (readonly [what: string, change: object, message: RegExp])[] = [
    ['another issuer', { issuer: 'https://issuer.example' }, /is of another issuer than the one that is trusted$/],
    ['no issuer', { issuer: undefined }, /is of another issuer/],
    ['no place for keys', { jwks_uri: undefined }, /jwks_uri is no https URL$/],
    ['a place that is no text', { jwks_uri: ['https://issuer.example'] }, /jwks_uri is no https URL/],
    ['keys that come in the clear', { jwks_uri: 'http://localhost/keys' }, /jwks_uri is no https URL/],
    ['keys in a file', { jwks_uri: 'file:///etc/passwd' }, /jwks_uri is no https URL/],
    ['a relative place', { jwks_uri: '/keys' }, /jwks_uri is no https URL/],
  ];
  for (const [what, change, message] of configurations) {
    it(`refuses a configuration with ${what}`, async () => {
      Object.assign(provider.configuration, change);
      await assert.rejects(open().fetchKeys(signal), message);
      assert.deepEqual(provider.asked, [CONFIGURATION]);
    });
  }

  it('refuses a configuration whose issuer differs by a slash', async () => {
    provider.configuration['issuer'] = `${provider.issuer}/`;
    await assert.rejects(open().fetchKeys(signal), /is of another issuer/);
  });

  const answers: readonly (readonly [what: string, answer: TestProvider['instead'], message: RegExp])[] = [
    ['a failure', answering(500, '{}'), /answered with the status 500/],
    ['nothing', answering(204, ''), /answered with the status 204/],
    ['a redirect', answering(302, '', { location: 'https://localhost/keys' }), /answered with the status 302/],
    ['a redirect into the clear', answering(307, '', { location: 'http://localhost/keys' }), /status 307/],
    ['no JSON', answering(200, '<html>secret</html>'), /the answer is no JSON that can be read$/],
    ['JSON that nests too deep', answering(200, '['.repeat(33) + ']'.repeat(33)), /is no JSON that can be read$/],
    ['too much', answering(200, ' '.repeat(512 * 1024 + 1)), /is longer than 524288 bytes/],
    ['no answer', (_, res) => void res.destroy(), /the connection was cut/],
    ['no answer in time', (): void => undefined, /no keys within 300 ms/],
  ];
  for (const [what, answer, message] of answers) {
    for (const at of [CONFIGURATION, '/keys']) {
      it(`refuses ${what} from ${at}`, async () => {
        const o = what === 'no answer in time' ? { timeoutMs: 300 } : {};
        const it = open(o);
        provider.instead = (path, res) => {
          const body = path === CONFIGURATION ? provider.configuration : { keys: [] };
          if (path === at) answer?.(path, res);
          else res.end(JSON.stringify(body));
        };
        await assert.rejects(it.fetchKeys(signal), (err: Error) => {
          assert.match(err.message, message);
          assert.ok(err.message.includes(provider.issuer));
          return true;
        });
      });
    }
  }

  it('refuses a certificate of an authority that is not trusted', async () => {
    await assert.rejects(open({ caFile: join(others.directory, 'ca.crt') }).fetchKeys(signal), /no authority that is trusted/); // prettier-ignore
    await assert.rejects(open({ caFile: '' }).fetchKeys(signal), /no authority that is trusted/);
    assert.deepEqual(provider.asked, []);
  });

  it('refuses a certificate for other hosts', async () => {
    const elsewhere = await TestProvider.start(authority.issue('elsewhere', 'DNS:elsewhere'));
    try {
      await assert.rejects(open({ issuer: elsewhere.issuer }).fetchKeys(signal), /certificate is for other hosts/);
    } finally {
      await elsewhere.leave();
    }
  });

  it('ends with the signal', async () => {
    provider.instead = (): void => undefined;
    const controller = new AbortController();
    const fetching = open().fetchKeys(controller.signal);
    controller.abort(new Error('the server stops'));
    await assert.rejects(fetching, /the server stops/);
  });

  it('reads the configuration, then the keys, and next time the keys only', async () => {
    const it = open();
    for (let i = 0; i < 2; i++) {
      const { keys } = await it.fetchKeys(signal);
      assert.deepEqual(keys.keys.map(({ name, id }) => [name, id]), [[key.verifying.id, key.verifying.id]]); // prettier-ignore
    }
    assert.deepEqual(provider.asked, [CONFIGURATION, '/keys', '/keys']);
  });

  it('reads the configuration again when the keys were not to be had', async () => {
    const it = open();
    await it.fetchKeys(signal);
    provider.instead = answering(404, '{}');
    await assert.rejects(it.fetchKeys(signal), /keys: answered with the status 404/);
    provider.instead = undefined;
    await it.fetchKeys(signal);
    assert.deepEqual(provider.asked, [CONFIGURATION, '/keys', '/keys', CONFIGURATION, '/keys']);
  });

  it('finds the configuration below an issuer with a path, and with a slash at its end', async () => {
    for (const path of ['/', '/realm', '/realm/']) {
      const issuer = `${provider.issuer}${path}`;
      provider.instead = (asked, res) => {
        const body = asked === '/keys' ? { keys: provider.keys } : { issuer, jwks_uri: `${provider.issuer}/keys` };
        res.end(JSON.stringify(body));
      };
      const { keys } = await open({ issuer }).fetchKeys(signal);
      assert.equal(keys.keys.length, 1);
      assert.equal(provider.asked.at(-2), `${path.replace(/\/$/, '')}${CONFIGURATION}`);
    }
  });

  it('follows the file with the authorities', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'oidc-ca-'));
    try {
      const file = join(directory, 'ca.crt');
      copyFileSync(join(others.directory, 'ca.crt'), file);
      const it = open({ caFile: file });
      await assert.rejects(it.fetchKeys(signal), /no authority that is trusted/);
      copyFileSync(caFile, file);
      assert.equal((await it.fetchKeys(signal)).keys.keys.length, 1);
      rmSync(file);
      await assert.rejects(it.fetchKeys(signal), /ENOENT/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  for (const [control, expected] of [
    ['max-age=60', 60_000],
    ['public, max-age=3600, must-revalidate', 3_600_000],
    ['Max-Age="5"', 5_000],
    ['no-store', 0],
    ['no-cache, max-age=60', 0],
    ['max-age=-1', undefined],
    ['s-maxage', undefined],
    ['', undefined],
  ] as const) {
    it(`is told by cache-control: ${control} to keep keys ${expected ?? 'as long as usual'}`, async () => {
      provider.headers = { 'cache-control': control };
      assert.equal((await open().fetchKeys(signal)).maxAgeMs, expected);
    });
  }
});
