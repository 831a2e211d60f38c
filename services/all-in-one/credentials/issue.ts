import type { JsonName, X509Certificate } from '@peculiar/x509';
import { createPrivateKey, createPublicKey, generateKeyPair, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { x509 } from './x509.js';

const DAY_MS = 24 * 3_600_000;
const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
/** Clocks of clients may be behind ours. */
const BACKDATE_MS = 5 * 60_000;

type SigningAlgorithm = { readonly name: string; readonly hash: string; readonly namedCurve?: string };

/** How a key signs, by what it is. An operator may have brought an authority of their own. */
const SIGNING: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  rsa: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
};

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
  /** Private key of the new certificate. */
  readonly key: string;
  readonly organization?: string;
  readonly commonName: string;
  /** Host names and addresses; may be empty for a client. */
  readonly hosts: readonly string[];
  readonly usage: 'serverAuth' | 'clientAuth';
}

const generate = promisify(generateKeyPair);

/** A new private key on P-256: made in a millisecond, where RSA takes a hundred and more. */
export async function newKey(): Promise<string> {
  const { privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export const publicHalf = (key: string): string =>
  createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();

/** A certificate for an authority, signed by itself. */
export async function issueAuthority(r: AuthorityRequest, now: Date): Promise<string> {
  const previous = r.previous === undefined ? undefined : new x509.X509Certificate(r.previous);
  const keyId = previous?.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  const name = previous?.subjectName ?? [{ CN: [r.commonName] }];
  const cert = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: name,
    publicKey: publicKeyInfo(r.key),
    ...(await signedBy(r.key)),
    ...validity(now, AUTHORITY_DAYS),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      keyId === undefined
        ? await x509.SubjectKeyIdentifierExtension.create(publicKeyInfo(r.key))
        : new x509.SubjectKeyIdentifierExtension(keyId),
    ],
  });
  return pemFile(cert);
}

/** A certificate for a server or a client. It ends with its authority at the latest. */
export async function issueLeaf(r: LeafRequest, authority: Authority, now: Date): Promise<string> {
  const issuer = new x509.X509Certificate(authority.cert);
  const subject: JsonName = [
    ...(r.organization === undefined ? [] : [{ O: [r.organization] }]),
    { CN: [r.commonName] },
  ];
  const { notBefore, notAfter } = validity(now, LEAF_DAYS);
  const issuerKeyId = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  const cert = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer.subjectName,
    publicKey: publicKeyInfo(r.key),
    ...(await signedBy(authority.key)),
    notBefore,
    notAfter: notAfter < issuer.notAfter ? notAfter : issuer.notAfter,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[r.usage]]),
      await x509.SubjectKeyIdentifierExtension.create(publicKeyInfo(r.key)),
      ...(issuerKeyId === undefined ? [] : [new x509.AuthorityKeyIdentifierExtension(issuerKeyId)]),
      ...(r.hosts.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(r.hosts.map(alternativeName))]),
    ],
  });
  return pemFile(cert);
}

const alternativeName = (host: string): { type: 'dns' | 'ip'; value: string } => ({
  type: isIP(host) === 0 ? 'dns' : 'ip',
  value: host,
});

const validity = (now: Date, days: number): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(now.getTime() - BACKDATE_MS),
  notAfter: new Date(now.getTime() + days * DAY_MS),
});

const publicKeyInfo = (key: string): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

async function signedBy(pem: string): Promise<{ signingKey: webcrypto.CryptoKey; signingAlgorithm: SigningAlgorithm }> {
  const key = createPrivateKey(pem);
  const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? '';
  const signingAlgorithm = SIGNING[kind];
  if (signingAlgorithm === undefined) throw new Error(`Cannot sign with a key of type ${kind}`);
  const der = key.export({ type: 'pkcs8', format: 'der' });
  return {
    signingAlgorithm,
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, signingAlgorithm, false, ['sign']),
  };
}

const pemFile = (cert: X509Certificate): string => `${cert.toString('pem')}\n`;
