import { bytesOf, context, DerProblem, membersOf, oidOf, parseDer, TAG, tagOf, type Element } from './der.js';

/* Certificates (RFC 5280) as they are encoded, for what node:crypto does not tell of them. */

export const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  /** The attribute of a request that holds extensions. */
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

export interface CertificateParts {
  readonly subject: Element;
  /** The value of each extension in DER, by its object id in dots. */
  readonly extensions: ReadonlyMap<string, Buffer>;
}

/** @throws {DerProblem} */
export function readCertificate(der: Buffer): CertificateParts {
  const [signed] = membersOf(parseDer(der));
  const members = membersOf(signed);
  const first = members[0] !== undefined && tagOf(members[0]) === context(0) ? 1 : 0; // the version, when it is told
  const subject = members[first + 4]; // after serial number, algorithm, issuer and validity
  membersOf(subject);
  const extensions = members.find((member) => tagOf(member) === context(3));
  const list = extensions === undefined ? [] : membersOf(membersOf(extensions, context(3))[0]);
  return { subject: subject as Element, extensions: new Map(list.map(extension)) };
}

function extension(element: Element): readonly [oid: string, content: Buffer] {
  const members = membersOf(element);
  return [oidOf(members[0]), bytesOf(members.at(-1), TAG.octetString)];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Kinds of text that are read character by character, the oldest as OpenSSL does. */
const PLAIN_TEXTS: readonly number[] = [TAG.numeric, TAG.printable, TAG.teletex, TAG.ia5, TAG.bmp];

function textOf(element: Element | undefined): string {
  if (element !== undefined && PLAIN_TEXTS.includes(tagOf(element))) return element.value as string;
  try {
    return utf8.decode(bytesOf(element, TAG.utf8));
  } catch (err) {
    throw new DerProblem('asn1: structure error: not a text', { cause: err });
  }
}

/** The values of one attribute of a name, in its order. @throws {DerProblem} */
export function valuesOf(name: Element, oid: string): readonly string[] {
  const attributes = membersOf(name)
    .flatMap((set) => membersOf(set, TAG.set))
    .map((attribute) => membersOf(attribute));
  return attributes.filter(([type]) => oidOf(type) === oid).map(([, value]) => textOf(value));
}
