import type { X509Certificate } from 'node:crypto';
import {
  certificateOf,
  endsWithin,
  faultOf,
  privateKeyOf,
  type LeafWanted,
  type Pair,
} from '../../machinery/pki/leaf-check.js';
import { nameOf, type CredentialFile } from './files.js';

/** Certificates that end sooner than this are made anew. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;
const endsSoon = (cert: X509Certificate, now: Date): boolean => endsWithin(cert, now, RENEW_BEFORE_MS);

export const LEAVES = ['serving', 'admin', 'controllers'] as const;
export type Leaf = (typeof LEAVES)[number];

/** Contents of the files; absent: no such file. */
export type Texts = Readonly<Partial<Record<CredentialFile, string>>>;

/** Files to make, each with the reason. Empty: all are there and good. */
export interface Plan {
  /** `new` makes a key, too; `renew` keeps it. */
  readonly authority?: { readonly how: 'new' | 'renew'; readonly why: string };
  readonly leaves: Readonly<Partial<Record<Leaf, string>>>;
  /** `public`: only the public half, from the key that is there. */
  readonly serviceAccount?: 'pair' | 'public';
  /** The reason to make the front proxy's certificate, and an authority for it alone, whose key nobody keeps. */
  readonly frontProxy?: string;
}

/**
 * Decides what to make. Keys that others depend on, the authority's and the service accounts', are never replaced: what
 * cannot be used there is for a person to look at.
 *
 * @throws {Error} In one line, when such a file cannot be used.
 */
export function planOf(texts: Texts, wanted: Readonly<Record<Leaf | 'frontProxy', LeafWanted>>, now: Date): Plan {
  const authority = authorityPlan(texts, now);
  const leaves =
    authority === undefined
      ? leafPlan(texts, wanted, now)
      : Object.fromEntries(LEAVES.map((leaf) => [leaf, authority.why]));
  if (Object.keys(leaves).length > 0 && authority === undefined && texts.caKey === undefined) {
    throw new Error(`Cannot sign without ${nameOf('caKey')}: ${Object.entries(leaves).flat().join(' ')}`);
  }
  const serviceAccount = serviceAccountPlan(texts);
  const frontProxy = frontProxyPlan(texts, wanted.frontProxy, now);
  return {
    leaves,
    ...(frontProxy === undefined ? {} : { frontProxy }),
    ...(authority === undefined ? {} : { authority }),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  };
}

function authorityPlan({ caCert, caKey }: Texts, now: Date): Plan['authority'] {
  const key = caKey === undefined ? undefined : privateKeyOf(caKey);
  if (caKey !== undefined && key === undefined) throw new Error(`Cannot read the key in ${nameOf('caKey')}`);
  if (caCert === undefined) return { how: key === undefined ? 'new' : 'renew', why: 'no authority yet' };
  const cert = certificateOf(caCert);
  if (cert === undefined) throw new Error(`Cannot read the certificate in ${nameOf('caCert')}`);
  if (key !== undefined && !cert.checkPrivateKey(key)) {
    throw new Error(`${nameOf('caCert')} and ${nameOf('caKey')} do not belong together`);
  }
  return key !== undefined && endsSoon(cert, now) ? { how: 'renew', why: 'authority renewed' } : undefined;
}

function leafPlan(texts: Texts, wanted: Readonly<Record<Leaf, LeafWanted>>, now: Date): Plan['leaves'] {
  const authority = certificateOf(texts.caCert ?? '');
  if (authority === undefined) throw new Error('Leaves are planned after their authority');
  const pairs: Readonly<Record<Leaf, Pair>> = {
    serving: { cert: texts.servingCert, key: texts.servingKey },
    admin: { cert: texts.adminCert, key: texts.adminKey },
    controllers: { cert: texts.controllersCert, key: texts.controllersKey },
  };
  const faults = LEAVES.map((leaf) => [
    leaf,
    faultOf(pairs[leaf], wanted[leaf], authority, (cert) => endsSoon(cert, now)),
  ]);
  return Object.fromEntries(faults.filter(([, fault]) => fault !== undefined)) as Plan['leaves'];
}

function frontProxyPlan(texts: Texts, wanted: LeafWanted, now: Date): string | undefined {
  const authority = certificateOf(texts.frontProxyCa ?? '');
  if (authority === undefined) return 'no authority yet';
  const pair = { cert: texts.frontProxyCert, key: texts.frontProxyKey };
  return faultOf(pair, wanted, authority, (cert) => endsSoon(cert, now));
}

function serviceAccountPlan({ serviceAccountKey, serviceAccountPublic }: Texts): Plan['serviceAccount'] {
  if (serviceAccountKey === undefined) return 'pair';
  if (privateKeyOf(serviceAccountKey) === undefined) throw new Error(`Cannot read ${nameOf('serviceAccountKey')}`);
  return serviceAccountPublic === undefined ? 'public' : undefined;
}

export const isEmpty = (plan: Plan): boolean =>
  plan.authority === undefined &&
  plan.frontProxy === undefined &&
  plan.serviceAccount === undefined &&
  Object.keys(plan.leaves).length === 0;
