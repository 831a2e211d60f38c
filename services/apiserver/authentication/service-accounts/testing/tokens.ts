import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { claimsOf } from '../claims.js';
import type { VerifyingKey } from '../../jwt/signatures.js';
import { keysIn } from '../key-files.js';

export const WORDS = vocabulary('platform');
export const ISSUER = 'https://issuer.example';
/** 2026-01-01T00:00:00Z */
export const NOW_SECONDS = 1_767_225_600;

/** An EC key unless told otherwise: they are made quickly. */
export class TestKey {
  readonly privateKey: KeyObject;
  readonly publicPem: string;
  readonly privatePem: string;
  readonly verifying: VerifyingKey;

  constructor(pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })) {
    this.privateKey = pair.privateKey;
    this.publicPem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    this.privatePem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const [verifying] = keysIn(this.publicPem);
    if (verifying === undefined) throw new Error('No key was read');
    this.verifying = verifying;
  }

  static rsa(): TestKey {
    return new TestKey(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  }

  sign(claims: unknown, header: { readonly alg?: string; readonly kid?: string } = {}): Promise<string> {
    const { id: kid, algorithms } = this.verifying;
    const text = typeof claims === 'string' ? claims : JSON.stringify(claims);
    return new CompactSign(Buffer.from(text))
      .setProtectedHeader({ alg: algorithms[0], kid, ...header })
      .sign(this.privateKey);
  }
}

export type Claims = Record<string, unknown>;

/** Of an account `a` in `ns`, for this server, for an hour from now. */
export const boundTo = (object?: { kind: 'pod' | 'secret'; name: string }, more: Claims = {}): Claims => ({
  ...claimsOf(
    {
      namespace: 'ns',
      account: { name: 'a', uid: 'uid-of-a' },
      boundTo: object && { kind: object.kind, object: { name: object.name, uid: `uid-of-${object.name}` } },
      audiences: [ISSUER],
      seconds: 3600,
      warnAfterSeconds: 0,
    },
    ISSUER,
    WORDS.tokenClaim,
    NOW_SECONDS,
  ),
  ...more,
});

const { legacyTokenClaims: LEGACY } = WORDS;

/** Of the same account, in a Secret `a-token`. */
export const heldIn = (more: Claims = {}): Claims => ({
  iss: WORDS.legacyTokenIssuer,
  sub: 'system:serviceaccount:ns:a',
  [LEGACY.namespace]: 'ns',
  [LEGACY.secretName]: 'a-token',
  [LEGACY.serviceAccountName]: 'a',
  [LEGACY.serviceAccountUid]: 'uid-of-a',
  ...more,
});

export const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
