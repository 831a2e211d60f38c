import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { isSecretMember, redacted, redactedText, redactedUrl } from './redact.js';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyb2JvdCJ9.c2lnbmF0dXJlLW9mLWl0';
const KEY = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;
const SECRET = 's3cr3t-value';

describe('redactedText()', () => {
  for (const text of [
    `Bearer ${SECRET} is not known`,
    `Authorization: Basic ${SECRET}`,
    `authorization: ${SECRET}`,
    `{"password":"${SECRET}"}`,
    String.raw`quoted "{\"client-secret\":\"${SECRET}\"}"`,
    `{"status":{"token":"${SECRET}"}}`,
    `a: b\n  token: ${SECRET}`,
    `token:${SECRET}`,
    `"token": "${SECRET}"`,
    `password=${SECRET}&x=1`,
    `GET https://host/path?access_token=${SECRET}#there`,
    `/callback?x=1&code=${SECRET}`,
    `https://user:${SECRET}@host/`,
    `client-key-data: ${SECRET}`,
    `base64url.bearer.authorization.k8s.io.${SECRET}`,
  ]) {
    it(`hides the secret of ${text.replace(SECRET, '…')}`, () =>
      assert.doesNotMatch(redactedText(text), new RegExp(SECRET)));
  }

  it('hides what shows by its form', () => {
    assert.equal(redactedText(`<${JWT}>`), '<[redacted]>');
    assert.equal(redactedText(`the token abcdef.0123456789abcdef`), 'the token abcdef.[redacted]');
    for (const pem of [KEY, KEY.slice(0, 60), KEY.replaceAll('\n', '\\n')]) {
      assert.doesNotMatch(redactedText(pem), /MIG/, pem);
    }
  });

  it('leaves the rest as it is', () => {
    for (const text of [
      'Request failed at /api/v1/namespaces/a/secrets/my-token?watch=1',
      'secrets "my-secret" not found',
      'the tokens of service accounts: 12',
      'Change feed starts over',
      'Nobody knows the token: authentication webhook: answered with the status 500',
      'aescbc.keys[0].secret: must be base64',
      '/registry/secrets/default/name',
      'https://127.0.0.1:6443 did not answer',
      'Service account key made',
    ]) {
      assert.equal(redactedText(text), text);
    }
  });

  it('is bounded', () => assert.ok(redactedText('x'.repeat(1_000_000)).length < 20_000));
});

describe('redacted()', () => {
  it('hides members by their names, at any depth', () => {
    const value = { a: [{ Authorization: SECRET, clientSecret: SECRET, headers: { cookie: [SECRET] }, name: 'n' }] };
    assert.deepEqual(JSON.parse(JSON.stringify(redacted(value))), {
      a: [{ Authorization: '[redacted]', clientSecret: '[redacted]', headers: { cookie: '[redacted]' }, name: 'n' }],
    });
    for (const name of ['token', 'accessToken', 'X-Auth-Token', 'db_password', 'private-key', 'stringData']) {
      assert.ok(isSecretMember(name), name);
    }
    for (const name of ['key', 'name', 'secrets', 'tokens_total', 'uid']) assert.equal(isSecretMember(name), false);
  });

  it('keeps of errors what they say, and of what caused them, without secrets', () => {
    const err = Object.assign(new Error(`Bearer ${SECRET}`, { cause: new Error(`?token=${SECRET}`) }), {
      code: 'EX',
      request: { raw: SECRET },
      response: { body: SECRET },
    });
    const text = JSON.stringify(redacted({ err }));
    assert.doesNotMatch(text, new RegExp(SECRET));
    assert.match(text, /"code":"EX"/);
    assert.match(text, /Bearer \[redacted\].*token=\[redacted\]/);
  });

  it('ends whatever it is given', () => {
    const ring: Record<string, unknown> = { bytes: Buffer.from(SECRET), big: 1n, f: (): void => undefined };
    ring['self'] = ring;
    assert.deepEqual(JSON.parse(JSON.stringify(redacted(ring))), { bytes: '12 bytes', big: '1', self: '…' });
    const wide = JSON.stringify(redacted({ many: Array.from({ length: 100_000 }, (_, i) => ({ i })) }));
    assert.ok(wide.length < 20_000);
    const own = JSON.parse(`{"__proto__":{"password":"${SECRET}"}}`) as object;
    assert.doesNotMatch(JSON.stringify(redacted(own)), new RegExp(SECRET));
  });
});

describe('redactedUrl()', () => {
  it('shows values of parameters that this API knows, and no others', () => {
    assert.equal(
      redactedUrl(`/api/v1/pods?labelSelector=a%3Db&limit=5&command=${SECRET}&token=${SECRET}&x`),
      '/api/v1/pods?labelSelector=a%3Db&limit=5&command=[redacted]&token=[redacted]&x',
    );
    assert.equal(redactedUrl('/version'), '/version');
  });
});
