import assert from 'node:assert/strict';
import { createMetrics } from '../../metrics/metrics.js';
import { AdmissionChain } from '../../admission/chain.js';
import { ObjectScene } from '../../authentication/service-accounts/testing/scene.js';
import { ISSUER, WORDS } from '../../authentication/service-accounts/testing/tokens.js';
import type { Context, ResourceRequest } from '../../request/request.js';
import type { OperationDeps } from '../operation.js';
import type { TokenIssuer } from './issuer.js';
import { accountToken } from './token.js';

const YEAR = 365 * 24 * 3_600;
const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
const secret = { kind: 'Secret', apiVersion: 'v1', name: 's' };
const OWN = [ISSUER, 'also-own'];

/** Times in seconds after the issue. */
interface Issued {
  readonly expires: number;
  readonly warnAfter: number | undefined;
  readonly audiences: readonly string[];
  /** `status.expirationTimestamp` */
  readonly shown: number;
  /** `spec.expirationSeconds` of the answer */
  readonly asked: number;
}

describe('accountToken()', () => {
  let scene: ObjectScene;
  before(async () => {
    scene = await ObjectScene.open();
    await scene.put('serviceaccounts', { name: 'a' });
    await scene.put('pods', { name: 'p', spec: { serviceAccountName: 'a' } });
    await scene.put('secrets', { name: 's' });
  });
  after(() => scene.close());

  /** A server that can do what this one may ask of it, but for the signature. */
  const serverOf = (o: Partial<TokenIssuer>, spec: object, sign: TokenIssuer['signer']['sign']): OperationDeps => {
    const usual = { issuer: ISSUER, audiences: OWN, maxSeconds: 0, extends: true };
    return {
      ...scene.core,
      admission: new AdmissionChain(new Map(), createMetrics().admission),
      bodies: { parsed: () => Promise.resolve({ spec }) },
      tokens: { ...usual, signer: { sign }, ...o },
    } as unknown as OperationDeps;
  };

  async function issue(spec: object, o: Partial<TokenIssuer> = {}): Promise<Issued> {
    let claims = {} as { iat: number; exp: number; aud: string[]; [own: string]: unknown };
    let body = '';
    const end = (bytes: Buffer): unknown => (body = bytes.toString());
    const res = { getHeader: () => undefined, setHeader: () => undefined, writeHead: () => undefined, end };
    const state = { query: new URLSearchParams() };
    const ctx = { req: { headers: {} }, res, get: () => '', state } as unknown as Context;
    const d = serverOf(o, spec, (signed) => {
      claims = signed as typeof claims;
      return Promise.resolve('signed');
    });
    const declaration = scene.core.catalog.resources.find(({ resource }) => resource === 'serviceaccounts');
    await accountToken(d).create?.(ctx, { namespace: 'ns', name: 'a', declaration } as ResourceRequest);
    const { warnafter } = claims[WORDS.tokenClaim] as { warnafter?: number };
    const answer = JSON.parse(body) as {
      spec: { expirationSeconds: number };
      status: { expirationTimestamp: string };
    };
    return {
      expires: claims.exp - claims.iat,
      warnAfter: warnafter === undefined ? undefined : warnafter - claims.iat,
      audiences: claims.aud,
      shown: Date.parse(answer.status.expirationTimestamp) / 1000 - claims.iat,
      asked: answer.spec.expirationSeconds,
    };
  }

  for (const [what, audiences] of [
    ['that names no audience', []],
    ['for the server', [ISSUER]],
    ['for all that the server goes by', OWN],
  ] as const)
    it(`lets a token of a pod ${what} live a year, to be replaced after what was asked for`, async () =>
      assert.deepEqual(await issue({ expirationSeconds: 3_607, boundObjectRef, audiences }), {
        expires: YEAR,
        warnAfter: 3_607,
        audiences: audiences.length === 0 ? OWN : audiences,
        shown: 3_607,
        asked: 3_607,
      }));

  for (const [what, spec, o] of [
    ['of nothing', { expirationSeconds: 3_607 }],
    ['of a Secret', { expirationSeconds: 3_607, boundObjectRef: secret }],
    ['for somebody else', { expirationSeconds: 3_607, boundObjectRef, audiences: ['vault'] }],
    ['for somebody else as well', { expirationSeconds: 3_607, boundObjectRef, audiences: [ISSUER, 'vault'] }],
    ['of an hour', { expirationSeconds: 3_600, boundObjectRef }],
    ['of a second less', { expirationSeconds: 3_606, boundObjectRef }],
    ['of a second more', { expirationSeconds: 3_608, boundObjectRef }],
    ['of a server that extends none', { expirationSeconds: 3_607, boundObjectRef }, { extends: false }],
  ] as const)
    it(`gives a token ${what} no second more than asked for`, async () => {
      const { expires, warnAfter, shown } = await issue(spec, o);
      const { expirationSeconds: asked } = spec;
      assert.deepEqual([expires, warnAfter, shown], [asked, undefined, asked]);
    });

  it('gives an hour to who does not say', async () => {
    const { expires, warnAfter, asked } = await issue({ boundObjectRef });
    assert.deepEqual([expires, warnAfter, asked], [3_600, undefined, 3_600]);
  });

  it('shortens a token before it may be extended, and shows how long it is good for', async () => {
    const spec = { expirationSeconds: 3_607, boundObjectRef };
    const { expires, warnAfter, shown, asked } = await issue(spec, { maxSeconds: 3_606 });
    assert.deepEqual([expires, warnAfter, shown, asked], [3_606, undefined, 3_606, 3_606]);
    assert.equal((await issue(spec, { maxSeconds: 3_607 })).expires, YEAR);
  });
});
