import assert from 'node:assert/strict';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { startPathServer } from '../../discovery/testing/path-server.js';
import { issuerDocuments } from './issuer-documents.js';
import { boundTo, ISSUER, NOW_SECONDS, TestKey } from './testing/tokens.js';

const [rsa, ec] = [TestKey.rsa(), new TestKey()];
const keys = { current: [rsa.verifying, ec.verifying] };

describe('issuerDocuments()', () => {
  for (const issuer of [undefined, '', 'issuer', 'http://issuer.example', 'https:', 'urn:issuer']) {
    it(`has nothing to tell of the issuer ${issuer ?? 'that is none'}`, () => {
      assert.equal(issuerDocuments({ issuer, jwksUri: '', keys }), undefined);
    });
  }

  it('tells where the keys are: below the issuer', () => {
    for (const [issuer, uri] of [
      [ISSUER, `${ISSUER}/openid/v1/jwks`],
      ['https://issuer.example:6443/a/', 'https://issuer.example:6443/a/openid/v1/jwks'],
    ] as const) {
      const documents = issuerDocuments({ issuer, jwksUri: '', keys });
      assert.deepEqual(documents?.configuration, {
        issuer,
        jwks_uri: uri,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      });
    }
  });

  it('follows the keys', () => {
    const changing = { current: [rsa.verifying] };
    const documents = issuerDocuments({ issuer: ISSUER, jwksUri: '', keys: changing }) ?? assert.fail();
    const { keySet } = documents;
    assert.equal(documents.keySet, keySet);
    changing.current = [ec.verifying];
    const ids = (set: object): unknown[] => (set as JSONWebKeySet).keys.map(({ kid }) => kid);
    assert.deepEqual([keySet, documents.keySet].map(ids), [[rsa.verifying.id], [ec.verifying.id]]);
  });

  it('tells where the keys are: as it was told', () => {
    const { configuration } = issuerDocuments({ issuer: ISSUER, jwksUri: 'https://keys.example/x', keys }) ?? {};
    assert.equal((configuration as { jwks_uri: string }).jwks_uri, 'https://keys.example/x');
  });

  it('tells public halves only', () => {
    const { keySet } = issuerDocuments({ issuer: ISSUER, jwksUri: '', keys }) ?? {};
    assert.deepEqual(
      (keySet as JSONWebKeySet).keys.map((key) => Object.keys(key).sort()),
      [
        ['alg', 'e', 'kid', 'kty', 'n', 'use'],
        ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
      ],
    );
  });

  it('is answered as others expect it, and lets them check tokens', async () => {
    const server = await startPathServer({ issuerDocuments: issuerDocuments({ issuer: ISSUER, jwksUri: '', keys }) });
    try {
      const { paths } = (await server.get('/')).json() as { paths: string[] };
      for (const [path, type] of [
        ['/.well-known/openid-configuration', 'application/json'],
        ['/openid/v1/jwks', 'application/jwk-set+json'],
      ] as const) {
        const { code, headers } = await server.get(path);
        const { 'content-type': given, 'cache-control': kept } = headers;
        assert.deepEqual([code, given, kept], [200, type, 'public, max-age=3600']);
        assert.ok(paths.includes(path));
      }
      const keySet = (await server.get('/openid/v1/jwks')).json() as unknown as JSONWebKeySet;
      for (const key of [rsa, ec]) {
        const o = { issuer: ISSUER, audience: ISSUER, currentDate: new Date(NOW_SECONDS * 1000) };
        const { payload } = await jwtVerify(await key.sign(boundTo()), createLocalJWKSet(keySet), o);
        assert.equal(payload.sub, 'system:serviceaccount:ns:a');
      }
    } finally {
      await server.close();
    }
  });

  it('is not found where there is none', async () => {
    const server = await startPathServer();
    try {
      for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks']) {
        assert.equal((await server.get(path)).code, 404);
      }
    } finally {
      await server.close();
    }
  });
});
