import type { X509Certificate } from 'node:crypto';
import { issueAuthority, issueLeaf, newKey, type Authority } from '../machinery/pki/issue.js';
import { certificateOf, faultOf, isInLastThird, privateKeyOf } from '../machinery/pki/leaf-check.js';
import type { Wanted, WantedLeaf } from './wanted.js';

/** Names of what belongs together in one set, as in secrets of the type `tls`. */
export const FILES = { cert: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

/** Contents by name. */
export type Files = Readonly<Record<string, string>>;

export interface Change {
  readonly name: string;
  /** All that the set holds from now on. */
  readonly files: Files;
  /** Why, without anything secret. */
  readonly why: string;
}

/** The set of that name as it is; undefined: there is none. */
export type Present = (name: string) => Files | undefined;

/**
 * What has to be made, or made anew: what is missing, what does not fit, and certificates of whose life less than a third is
 * left. Keys that others depend on, those of authorities and of service accounts, are kept: what cannot be used there is
 * for a person to look at.
 *
 * @returns In the order in which it is to be written: what is cut short is mended by the next run.
 * @throws {Error} In one line that names the set, and quotes nothing of it.
 */
export async function renewals(wanted: Wanted, present: Present, now: Date): Promise<readonly Change[]> {
  const changes: Change[] = [];
  const authorities = new Map<string, Authority>();
  for (const name of wanted.authorities) {
    const { authority, change } = await authorityOf(name, present(name), now);
    authorities.set(name, authority);
    if (change !== undefined) changes.push(change);
  }
  for (const name of wanted.keys) {
    const key = present(name)?.[FILES.key];
    if (key === undefined) changes.push({ name, files: { [FILES.key]: await newKey() }, why: 'missing' });
    else if (privateKeyOf(key) === undefined) throw unusable(name, 'its key cannot be read');
  }
  for (const leaf of wanted.leaves) {
    const authority = authorities.get(leaf.authority);
    if (authority === undefined)
      throw new Error(`${leaf.name} is to be signed by ${leaf.authority}, which nobody wants`);
    const change = await leafOf(leaf, present(leaf.name), authority, now);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

const unusable = (name: string, why: string): Error => new Error(`The set ${name} cannot be used: ${why}`);

interface Kept {
  readonly authority: Authority;
  readonly change?: Change;
}

async function authorityOf(name: string, files: Files | undefined, now: Date): Promise<Kept> {
  const { [FILES.cert]: cert, [FILES.key]: key } = files ?? {};
  if (key !== undefined && privateKeyOf(key) === undefined) throw unusable(name, 'its key cannot be read');
  if (cert === undefined) return made(name, key ?? (await newKey()), undefined, 'missing', now);
  const parsed = certificateOf(cert);
  if (parsed === undefined) throw unusable(name, 'its certificate cannot be read');
  if (key === undefined) throw unusable(name, 'it has no key to sign with');
  if (!belongTogether(parsed, key)) throw unusable(name, 'certificate and key do not belong together');
  if (isInLastThird(parsed, now)) return made(name, key, cert, 'less than a third of its life is left', now);
  return { authority: { cert, key } };
}

function belongTogether(cert: X509Certificate, key: string): boolean {
  const parsed = privateKeyOf(key);
  return parsed !== undefined && cert.checkPrivateKey(parsed);
}

function made(name: string, key: string, previous: string | undefined, why: string, now: Date): Kept {
  const cert = issueAuthority({ key, commonName: `platform-${name}`, previous }, now);
  return { authority: { cert, key }, change: { name, files: { [FILES.cert]: cert, [FILES.key]: key }, why } };
}

async function leafOf(
  leaf: WantedLeaf,
  files: Files | undefined,
  authority: Authority,
  now: Date,
): Promise<Change | undefined> {
  const issuer = certificateOf(authority.cert);
  if (issuer === undefined) throw unusable(leaf.authority, 'its certificate cannot be read');
  const pair = { cert: files?.[FILES.cert], key: files?.[FILES.key] };
  const fault = faultOf(pair, { subject: subjectOf(leaf), hosts: leaf.hosts }, issuer, (cert) =>
    isInLastThird(cert, now),
  );
  const { name } = leaf;
  if (fault !== undefined) {
    const key = await newKey();
    const cert = issueLeaf({ ...leaf, key }, authority, now);
    return { name, files: { [FILES.cert]: cert, [FILES.key]: key, [FILES.authority]: authority.cert }, why: fault };
  }
  if (files?.[FILES.authority] === authority.cert) return undefined;
  return { name, files: { ...files, [FILES.authority]: authority.cert }, why: 'its authority has a new certificate' };
}

/** As node:crypto tells it: one attribute a line. */
const subjectOf = ({ organization, commonName }: WantedLeaf): string =>
  [...(organization === undefined ? [] : [`O=${organization}`]), `CN=${commonName}`].join('\n');
