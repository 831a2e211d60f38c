import { OID, valuesOf } from './certificate.js';
import { context, DerProblem, expectTag, integerOf, membersOf, parseDer, TAG, type Element } from './der.js';
import { pemBlocks } from './pem.js';
import { signatureProblem } from './signatures.js';

/* Requests for certificates: PKCS#10 (RFC 2986) in PEM, signed with the key that they are for. */

const BLOCK_TYPE = 'CERTIFICATE REQUEST';

/** @returns What is wrong with the request; undefined when it is one, and signed with its own key. */
export function signingRequestProblem(pem: string): string | undefined {
  const [block] = pemBlocks(pem);
  if (block?.type !== BLOCK_TYPE) return `PEM block type must be ${BLOCK_TYPE}`;
  try {
    const request = parseDer(block.bytes);
    return signatureProblem(request, publicKeyOf(request));
  } catch (err) {
    if (err instanceof DerProblem) return err.message;
    throw err;
  }
}

/** @throws {DerProblem} */
function publicKeyOf(request: Element): Element {
  const [version, subject, publicKey, attributes] = membersOf(membersOf(request)[0]);
  integerOf(version);
  expectTag(subject, TAG.sequence);
  if (attributes !== undefined) expectTag(attributes, context(0));
  return expectTag(publicKey, TAG.sequence);
}

/** The organizations of the subject. @throws {DerProblem} when the block is no request, or its subject holds no texts */
export function requestedOrganizations(pem: string): readonly string[] {
  const [block] = pemBlocks(pem);
  if (block === undefined) throw new DerProblem(`PEM block type must be ${BLOCK_TYPE}`);
  const [, subject] = membersOf(membersOf(parseDer(block.bytes))[0]);
  return valuesOf(expectTag(subject, TAG.sequence), OID.organization);
}
