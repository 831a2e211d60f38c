import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { OID, readCertificate } from './certificate.js';
import * as der from './der.js';
import type { AlternativeNames } from './signing-request.js';
import type { Element } from './der.js';
import { pemText } from './pem.js';
import { signed, signingAlgorithm } from './signatures.js';

const DAY_MS = 24 * 3_600_000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** Clocks of clients may be behind ours. */
const BACKDATE_MS = 5 * 60_000;

/** PEM texts. */
export interface Authority {
  readonly cert: string;
  readonly key: string;
}

export interface AuthorityRequest {
  readonly key: string;
  /** Used when there is no `previous` one. */
  readonly commonName: string;
  /** A certificate of the same key; keeps its name, so that what it signed stays good. */
  readonly previous: string | undefined;
}

export interface LeafRequest {
  /** The key of the new certificate, private or public. */
  readonly key: string;
  readonly organization?: string;
  readonly commonName: string;
  /** Host names and addresses; may be empty for a client. */
  readonly hosts: readonly string[];
  /** `peer`: servers that are each other's clients. */
  readonly usage: 'serverAuth' | 'clientAuth' | 'peer';
}

const generate = promisify(generateKeyPair);

/** A new private key on P-256: made in a millisecond, where RSA takes a hundred and more. */
export async function newKey(): Promise<string> {
  const { privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export const publicHalf = (key: string): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();

/** A certificate for an authority, signed by itself. @throws {Error} When the key cannot sign. */
export function issueAuthority(r: AuthorityRequest, now: Date): string {
  const previous = r.previous === undefined ? undefined : readCertificate(new X509Certificate(r.previous).raw);
  const name = previous?.subject ?? nameOf({ commonName: r.commonName });
  return issue(r.key, {
    issuer: name,
    subject: name,
    publicKey: publicKeyInfo(r.key),
    from: startOf(now),
    to: daysAfter(now, AUTHORITY_DAYS),
    extensions: [
      extension(OID.basicConstraints, der.sequence(der.primitive(der.TAG.boolean, Buffer.of(0xff))), 'critical'),
      extension(
        OID.keyUsage,
        der.bits(Buffer.of(USAGE.digitalSignature | USAGE.certSign | USAGE.crlSign), 1),
        'critical',
      ),
      extension(OID.subjectKeyId, previous?.extensions.get(OID.subjectKeyId) ?? keyIdOf(r.key)),
    ],
  });
}

/** A certificate for a server or a client. It ends with its authority at the latest. @throws {Error} When the authority cannot sign. */
export function issueLeaf(r: LeafRequest, authority: Authority, now: Date): string {
  const { raw, validTo } = new X509Certificate(authority.cert);
  const issuer = readCertificate(raw);
  const issuerKeyId = issuer.extensions.get(OID.subjectKeyId);
  const end = Math.min(daysAfter(now, LEAF_DAYS).getTime(), Date.parse(validTo));
  return issue(authority.key, {
    issuer: issuer.subject,
    subject: nameOf(r),
    publicKey: publicKeyInfo(r.key),
    from: startOf(now),
    to: new Date(end),
    extensions: [
      extension(OID.basicConstraints, der.sequence(), 'critical'),
      extension(OID.keyUsage, der.bits(Buffer.of(USAGE.digitalSignature), 7), 'critical'),
      extension(OID.extendedKeyUsage, der.sequence(...LEAF_USAGES[r.usage].map((it) => der.objectId(OID[it])))),
      extension(OID.subjectKeyId, keyIdOf(r.key)),
      ...(issuerKeyId === undefined ? [] : [extension(OID.authorityKeyId, authorityKeyId(issuerKeyId))]),
      ...(r.hosts.length === 0 ? [] : [extension(OID.alternativeNames, der.sequence(...r.hosts.map(alternativeName)))]),
    ],
  });
}

const LEAF_USAGES = {
  serverAuth: ['serverAuth'],
  clientAuth: ['clientAuth'],
  peer: ['serverAuth', 'clientAuth'],
} as const satisfies Readonly<Record<LeafRequest['usage'], readonly ('serverAuth' | 'clientAuth')[]>>;

export interface RequestedCertificate {
  /** As it stands in the request. */
  readonly subject: Element;
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer;
  readonly alternativeNames: AlternativeNames;
  /** As `spec.usages` of a request names them, e.g. `digital signature`, `client auth`. */
  readonly usages: readonly string[];
  readonly from: Date;
  readonly to: Date;
}

/**
 * A certificate as a request asks for it, with a random serial number and no right to sign others. What it may hold was
 * decided before.
 *
 * @returns PEM @throws {Error} When the authority cannot sign.
 */
export function issueRequested(r: RequestedCertificate, authority: Authority): string {
  const issuer = readCertificate(new X509Certificate(authority.cert).raw);
  const issuerKeyId = issuer.extensions.get(OID.subjectKeyId);
  const names = alternativeNamesOf(r.alternativeNames);
  const hasSubject = der.membersOf(r.subject).length > 0;
  const extendedUsages = r.usages.flatMap((usage) => EXTENDED_USAGES.get(usage) ?? []);
  return issue(authority.key, {
    issuer: issuer.subject,
    subject: r.subject,
    publicKey: der.parseDer(r.publicKey),
    from: r.from,
    to: r.to,
    extensions: [
      ...keyUsageOf(r.usages),
      ...(extendedUsages.length === 0
        ? []
        : [extension(OID.extendedKeyUsage, der.sequence(...[...new Set(extendedUsages)].map(der.objectId)))]),
      extension(OID.basicConstraints, der.sequence(), 'critical'),
      ...(issuerKeyId === undefined ? [] : [extension(OID.authorityKeyId, authorityKeyId(issuerKeyId))]),
      // RFC 5280, 4.2.1.6: without a subject, the names are all that says whose it is.
      ...(names.length === 0
        ? []
        : [extension(OID.alternativeNames, der.sequence(...names), hasSubject ? undefined : 'critical')]),
    ],
  });
}

/** RFC 5280, 4.2.1.3: the numbers of bits. */
const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
]);

/** RFC 5280, 4.2.1.12, and the identifiers of vendors that requests may name. */
const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', OID.serverAuth],
  ['client auth', OID.clientAuth],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

function keyUsageOf(usages: readonly string[]): readonly Element[] {
  const numbers = usages.flatMap((usage) => KEY_USAGES.get(usage) ?? []);
  if (numbers.length === 0) return [];
  const last = Math.max(...numbers);
  const bytes = Buffer.alloc(last < 8 ? 1 : 2);
  for (const n of numbers) bytes[n >> 3] = (bytes[n >> 3] ?? 0) | (0x80 >> (n & 7));
  return [extension(OID.keyUsage, der.bits(bytes, 7 - (last & 7)), 'critical')];
}

const alternativeNamesOf = ({ dns, email, ip, uri }: AlternativeNames): readonly Element[] => [
  ...dns.map((name) => textName(2, name)),
  ...email.map((name) => textName(1, name)),
  ...ip.map((name) => der.primitive(der.context(7, false), der.addressBytes(name))),
  ...uri.map((name) => textName(6, name)),
];

const textName = (kind: number, text: string): Element =>
  der.primitive(der.context(kind, false), Buffer.from(text, 'latin1'));

interface Content {
  readonly issuer: Element;
  readonly subject: Element;
  /** SubjectPublicKeyInfo */
  readonly publicKey: Element;
  readonly from: Date;
  readonly to: Date;
  readonly extensions: readonly Element[];
}

/** RFC 5280, 4.1. @returns PEM */
function issue(signingKey: string, c: Content): string {
  const key = createPrivateKey(signingKey);
  const content = der.sequence(
    der.constructed(der.context(0), [der.primitive(der.TAG.integer, Buffer.of(VERSION_3))]),
    der.primitive(der.TAG.integer, serialNumber()),
    signingAlgorithm(key),
    c.issuer,
    der.sequence(der.time(c.from), der.time(c.to)),
    c.subject,
    c.publicKey,
    der.constructed(der.context(3), [der.sequence(...c.extensions)]),
  );
  return pemText('CERTIFICATE', der.encodeDer(signed(content, key)));
}

const VERSION_3 = 2;
/** The first byte of the extension's bit string. */
const USAGE = { digitalSignature: 0x80, certSign: 0x04, crlSign: 0x02 };

/** Positive, and always of 16 bytes: the first begins with the bits 01. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

const startOf = (now: Date): Date => new Date(now.getTime() - BACKDATE_MS);
const daysAfter = (now: Date, days: number): Date => new Date(now.getTime() + days * DAY_MS);

function nameOf({ organization, commonName }: Pick<LeafRequest, 'organization' | 'commonName'>): Element {
  const part = (oid: string, text: string): Element =>
    der.constructed(der.TAG.set, [der.sequence(der.objectId(oid), der.primitive(der.TAG.utf8, Buffer.from(text)))]);
  const organizations = organization === undefined ? [] : [part(OID.organization, organization)];
  return der.sequence(...organizations, part(OID.commonName, commonName));
}

const extension = (oid: string, content: Element | Buffer, criticality?: 'critical'): Element =>
  der.sequence(
    der.objectId(oid),
    ...(criticality === undefined ? [] : [der.primitive(der.TAG.boolean, Buffer.of(0xff))]),
    der.primitive(der.TAG.octetString, Buffer.isBuffer(content) ? content : der.encodeDer(content)),
  );

const authorityKeyId = (issuerKeyId: Buffer): Element =>
  der.sequence(der.primitive(der.context(0, false), der.bytesOf(der.parseDer(issuerKeyId), der.TAG.octetString)));

function alternativeName(host: string): Element {
  const family = isIP(host);
  return family === 0 ? textName(2, host) : der.primitive(der.context(7, false), der.addressBytes(host));
}

const publicKeyInfo = (key: string): Element =>
  der.parseDer(createPublicKey(key).export({ type: 'spki', format: 'der' }));

/** RFC 7093, 2: the first 160 bits of a hash of the key's der.bits. */
function keyIdOf(key: string): Element {
  const [, bitString] = der.membersOf(publicKeyInfo(key));
  const digest = createHash('sha256').update(der.bytesOf(bitString, der.TAG.bitString).subarray(1)).digest();
  return der.primitive(der.TAG.octetString, digest.subarray(0, 20));
}
