import { addressText } from './hosts.js';
import { OID, valuesOf } from './certificate.js';
import { bytesOf, context, DerProblem, encodeDer, expectTag, integerOf, membersOf, oidOf, parseDer, TAG, tagOf, type Element } from './der.js'; // prettier-ignore
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

/** Names beside the subject (RFC 5280, 4.2.1.6), of the kinds that certificates of ours may carry. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  readonly email: readonly string[];
  readonly uri: readonly string[];
}

/** A request for a certificate. Extensions other than alternative names are not looked at. */
export interface SigningRequest {
  /** As it was sent, for the certificate. */
  readonly subject: Element;
  /** The last one of the subject; '' when it has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly alternativeNames: AlternativeNames;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
}

/** @throws {DerProblem} When the first block is no request, or is not signed with its own key. */
export function readSigningRequest(pem: string): SigningRequest {
  const problem = signingRequestProblem(pem);
  if (problem !== undefined) throw new DerProblem(problem);
  const [block] = pemBlocks(pem);
  const [, subject, publicKey, attributes] = membersOf(membersOf(parseDer(block?.bytes ?? Buffer.of()))[0]);
  const name = expectTag(subject, TAG.sequence);
  return {
    subject: name,
    commonName: valuesOf(name, OID.commonName).at(-1) ?? '',
    organizations: valuesOf(name, OID.organization),
    alternativeNames: alternativeNamesOf(attributes),
    publicKey: encodeDer(expectTag(publicKey, TAG.sequence)),
  };
}

/** RFC 2985, 5.4.2: the extensions that a certificate should have are one of the attributes. */
function alternativeNamesOf(attributes: Element | undefined): AlternativeNames {
  const found: Record<keyof AlternativeNames, string[]> = { dns: [], ip: [], email: [], uri: [] };
  const all = attributes === undefined ? [] : membersOf(attributes, context(0)).map((it) => membersOf(it));
  for (const [type, values] of all) {
    if (oidOf(type) !== OID.extensionRequest) continue;
    for (const extension of membersOf(membersOf(values, TAG.set)[0])) {
      const members = membersOf(extension);
      if (oidOf(members[0]) !== OID.alternativeNames) continue;
      for (const name of membersOf(parseDer(bytesOf(members.at(-1), TAG.octetString)))) readName(name, found);
    }
  }
  return found;
}

/** Kinds of names by their numbers. Others may stand in a request, and are left out of the certificate. */
const NAME_KINDS: ReadonlyMap<number, keyof AlternativeNames> = new Map([
  [context(1, false), 'email'],
  [context(2, false), 'dns'],
  [context(6, false), 'uri'],
  [context(7, false), 'ip'],
]);

function readName(name: Element, found: Readonly<Record<keyof AlternativeNames, string[]>>): void {
  const tag = tagOf(name);
  const kind = NAME_KINDS.get(tag);
  if (kind === undefined) return;
  const bytes = bytesOf(name, tag);
  const text = kind === 'ip' ? addressText(bytes) : bytes.toString('latin1');
  if (text === undefined || (kind !== 'ip' && /[^\x20-\x7e]/.test(text))) {
    throw new DerProblem('x509: cannot parse the alternative names');
  }
  found[kind].push(text);
}
