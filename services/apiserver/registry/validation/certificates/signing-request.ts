import { constants, createPublicKey, verify, type KeyObject } from 'node:crypto';
import { DerProblem, DerReader, TAG } from './der.js';
import { pemBlocks } from './pem.js';

/* Requests for certificates: PKCS#10 (RFC 2986) in PEM, signed with the key that they are for. */

interface Algorithm {
  /** undefined: the algorithm has its own. */
  readonly hash: string | undefined;
  readonly keys: readonly string[];
  readonly failure: string;
  readonly padding?: number;
}

const rsa = (hash: string): Algorithm => ({ hash, keys: ['rsa'], failure: 'crypto/rsa: verification error' });
const pss = (hash: string): Algorithm => ({
  ...rsa(hash),
  keys: ['rsa', 'rsa-pss'],
  padding: constants.RSA_PKCS1_PSS_PADDING,
});
const ecdsa = (hash: string): Algorithm => ({ hash, keys: ['ec'], failure: 'x509: ECDSA verification failure' });

/** By the object id, in hexadecimal as it is encoded. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d010105', rsa('sha1')],
  ['2a864886f70d01010b', rsa('sha256')],
  ['2a864886f70d01010c', rsa('sha384')],
  ['2a864886f70d01010d', rsa('sha512')],
  ['2a8648ce3d0401', ecdsa('sha1')],
  ['2a8648ce3d040302', ecdsa('sha256')],
  ['2a8648ce3d040303', ecdsa('sha384')],
  ['2a8648ce3d040304', ecdsa('sha512')],
  ['2b6570', { hash: undefined, keys: ['ed25519'], failure: 'x509: Ed25519 verification failure' }],
]);
const PSS = '2a864886f70d01010a';
/** Hashes that the parameters of PSS name somewhere. */
const PSS_HASHES: readonly (readonly [objectId: string, hash: string])[] = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
];

const BLOCK_TYPE = 'CERTIFICATE REQUEST';
const UNKNOWN = 'x509: cannot verify signature: algorithm unimplemented';

/** @returns What is wrong with the request; undefined when it is one, and signed with its own key. */
export function signingRequestProblem(pem: string): string | undefined {
  const [block] = pemBlocks(pem);
  if (block?.type !== BLOCK_TYPE) return `PEM block type must be ${BLOCK_TYPE}`;
  try {
    return signatureProblem(parts(block.bytes));
  } catch (err) {
    if (err instanceof DerProblem) return err.message;
    throw err;
  }
}

interface Parts {
  /** What is signed. */
  readonly info: Buffer;
  readonly publicKey: Buffer;
  readonly algorithm: Buffer;
  readonly signature: Buffer;
}

/** @throws {DerProblem} */
function parts(bytes: Buffer): Parts {
  const file = new DerReader(bytes);
  const request = new DerReader(file.next(TAG.sequence).content);
  if (!file.isDone) throw new DerProblem('asn1: syntax error: trailing data');
  const info = request.next(TAG.sequence);
  const algorithm = request.next(TAG.sequence).content;
  const signature = request.next(TAG.bitString).content;
  const members = new DerReader(info.content);
  members.next(TAG.integer);
  members.next(TAG.sequence); // the name that is asked for
  const publicKey = members.next(TAG.sequence).whole;
  if (!members.isDone) members.next(TAG.attributes);
  if (signature[0] !== 0) throw new DerProblem('asn1: syntax error: invalid padding bits in BIT STRING');
  return { info: info.whole, publicKey, algorithm, signature: signature.subarray(1) };
}

function algorithmOf(encoded: Buffer): Algorithm | undefined {
  const objectId = new DerReader(encoded).next(TAG.objectId).content.toString('hex');
  if (objectId !== PSS) return ALGORITHMS.get(objectId);
  const parameters = encoded.toString('hex');
  const hash = PSS_HASHES.find(([id]) => parameters.includes(id))?.[1];
  return hash === undefined ? undefined : pss(hash);
}

function signatureProblem({ info, publicKey, algorithm, signature }: Parts): string | undefined {
  const known = algorithmOf(algorithm);
  const key = keyOf(publicKey);
  if (key === undefined) return 'x509: malformed public key';
  if (known === undefined) return UNKNOWN;
  if (!known.keys.includes(key.asymmetricKeyType ?? '')) {
    return 'x509: signature algorithm does not fit the public key';
  }
  return isSigned(known, key, info, signature) ? undefined : known.failure;
}

function keyOf(publicKey: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  } catch {
    return undefined; // the runtime's words would not help
  }
}

function isSigned({ hash, padding }: Algorithm, key: KeyObject, info: Buffer, signature: Buffer): boolean {
  try {
    return verify(hash, info, padding === undefined ? key : { key, padding }, signature);
  } catch {
    return false; // a curve or a length that nobody verifies
  }
}
