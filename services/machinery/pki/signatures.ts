import { constants, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import * as der from './der.js';
import type { Element } from './der.js';

interface Algorithm {
  /** undefined: the algorithm has its own. */
  readonly hash: string | undefined;
  /** Kinds of keys that sign with it, as `kindOf` calls them. */
  readonly keys: readonly string[];
  readonly failure: string;
  readonly pss?: { readonly padding: number; readonly saltLength: number };
}

const CURVES = ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1'];
const rsa = (hash: string): Algorithm => ({ hash, keys: ['rsa'], failure: 'crypto/rsa: verification error' });
const ecdsa = (hash: string): Algorithm => ({ hash, keys: CURVES, failure: 'x509: ECDSA verification failure' });

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['1.2.840.113549.1.1.5', rsa('sha1')],
  ['1.2.840.113549.1.1.11', rsa('sha256')],
  ['1.2.840.113549.1.1.12', rsa('sha384')],
  ['1.2.840.113549.1.1.13', rsa('sha512')],
  ['1.2.840.10045.4.1', ecdsa('sha1')],
  ['1.2.840.10045.4.3.2', ecdsa('sha256')],
  ['1.2.840.10045.4.3.3', ecdsa('sha384')],
  ['1.2.840.10045.4.3.4', ecdsa('sha512')],
  ['1.3.101.112', { hash: undefined, keys: ['ed25519'], failure: 'x509: Ed25519 verification failure' }],
]);
/** The algorithm that each kind of key of ours signs with. An operator may have brought an authority of their own. */
const SIGNING: ReadonlyMap<string, string> = new Map([
  ['rsa', '1.2.840.113549.1.1.11'],
  ['prime256v1', '1.2.840.10045.4.3.2'],
  ['secp384r1', '1.2.840.10045.4.3.3'],
  ['secp521r1', '1.2.840.10045.4.3.4'],
  ['ed25519', '1.3.101.112'],
]);

const PSS = '1.2.840.113549.1.1.10';
const MGF1 = '1.2.840.113549.1.1.8';
const PSS_HASHES: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
const NULL = Buffer.of(der.TAG.null, 0);
/** Defaults of absent parameters. */
const PSS_SALT_LENGTH = 20;

/** The curve, or the kind of a key that has none. */
const kindOf = (key: KeyObject): string => key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';

/**
 * The signature algorithm of `key`. Algorithms of RSA have empty parameters, the others none. @throws {Error} When it
 * cannot sign.
 */
export function signingAlgorithm(key: KeyObject): Element {
  const kind = kindOf(key);
  const oid = SIGNING.get(kind);
  if (oid === undefined) throw new Error(`Cannot sign with a key of type ${kind}`);
  return der.sequence(der.objectId(oid), ...(kind === 'rsa' ? [der.primitive(der.TAG.null, Buffer.of())] : []));
}

/**
 * A content with its algorithm and signature, as certificates and requests for them have it. @throws {Error} When the
 * key cannot sign.
 */
export function signed(content: Element, key: KeyObject): Element {
  const algorithm = signingAlgorithm(key);
  return der.sequence(content, algorithm, der.bits(sign(algorithmOf(algorithm)?.hash, der.encodeDer(content), key)));
}

/**
 * @param whole A content, its algorithm and its signature.
 * @param publicKey SubjectPublicKeyInfo
 * @returns What is wrong with the signature; undefined: it is the key's.
 * @throws {DerProblem}
 */
export function signatureProblem(whole: Element, publicKey: Element): string | undefined {
  const [content, identifier, signature] = der.membersOf(whole);
  const bytes = der.bytesOf(signature, der.TAG.bitString);
  if (bytes[0] !== 0) return 'asn1: syntax error: invalid padding bits in BIT STRING';
  const algorithm = algorithmOf(identifier);
  const key = keyOf(publicKey);
  if (key === undefined) return 'x509: malformed public key';
  if (algorithm === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  if (!algorithm.keys.includes(kindOf(key))) return 'x509: signature algorithm does not fit the public key';
  return isSigned(algorithm, key, der.encodeDer(content as Element), bytes.subarray(1)) ? undefined : algorithm.failure;
}

function algorithmOf(identifier: Element | undefined): Algorithm | undefined {
  const [id, parameters] = der.membersOf(identifier);
  const oid = der.oidOf(id);
  return oid === PSS ? pssOf(parameters) : ALGORITHMS.get(oid);
}

/** RFC 4055, 3.1: with one hash for both of its uses, and the one trailer that there is. */
function pssOf(parameters: Element | undefined): Algorithm | undefined {
  const members = parameters === undefined ? [] : der.membersOf(parameters);
  const given = new Map(members.map((it) => [der.tagOf(it), der.membersOf(it, der.tagOf(it) | der.CONSTRUCTED)[0]]));
  if (!given.has(der.context(0)) || !given.has(der.context(1))) return undefined; // SHA-1
  const [mask, maskHash] = der.membersOf(given.get(der.context(1)));
  const oid = hashOf(given.get(der.context(0)));
  const hash = PSS_HASHES.get(oid ?? '');
  if (hash === undefined || der.oidOf(mask) !== MGF1 || given.has(der.context(3))) return undefined;
  if (hashOf(maskHash) !== oid) return undefined;
  const saltLength = given.has(der.context(2)) ? der.integerOf(given.get(der.context(2))) : PSS_SALT_LENGTH;
  return { ...rsa(hash), keys: ['rsa', 'rsa-pss'], pss: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } };
}

/**
 * The object identifier of a hash, whose parameters are NULL or absent (RFC 4055, 2.1); undefined when they are not.
 */
function hashOf(identifier: Element | undefined): string | undefined {
  const [id, parameters] = der.membersOf(identifier);
  const isPlain = parameters === undefined || der.encodeDer(parameters).equals(NULL);
  return isPlain ? der.oidOf(id) : undefined;
}

function keyOf(publicKey: Element): KeyObject | undefined {
  try {
    return createPublicKey({ key: der.encodeDer(publicKey), format: 'der', type: 'spki' });
  } catch {
    return undefined; // the runtime's words would not help
  }
}

function isSigned({ hash, pss }: Algorithm, key: KeyObject, content: Buffer, signature: Buffer): boolean {
  try {
    return verify(hash, content, { key, ...pss }, signature);
  } catch {
    return false; // a length that is not supported
  }
}
