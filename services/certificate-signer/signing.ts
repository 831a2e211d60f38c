import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps, Reconciled } from '../controllers/controller.js';
import { DerProblem } from '../machinery/pki/der.js';
import { issueRequested } from '../machinery/pki/issue.js';
import { readSigningRequest, type SigningRequest } from '../machinery/pki/signing-request.js';
import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import { authorityFiles, openAuthority, type AuthorityOptions, type SigningAuthority } from './authorities.js';
import { has, hasCertificate, requestText, withCondition } from './conditions.js';
import { kindOf, refusal, validity } from './signer-rules.js';

export interface SigningOptions extends AuthorityOptions {
  readonly clusterSigningDurationMs: number;
  readonly concurrentCertificateSigningSyncs: number;
}

/** A signer whose authority has ended is asked again: its files may be replaced. */
const AUTHORITY_AGAIN_MS = 60_000;

/**
 * Signs approved requests (spec 2, 2.3 and 3.1): those of the signers that it has an authority for, and of no others. A
 * request that its signer refuses gets the condition `Failed`. A key is the name of a request.
 */
export function openSigning(o: SigningOptions, d: ControllerDeps): Controller | undefined {
  const { client, informers, vocabulary, queue, log } = d;
  const files = authorityFiles(o);
  if (files.size === 0) {
    log.warn('Certificates are not signed: --cluster-signing-cert-file and --cluster-signing-key-file are not given');
    return undefined;
  }
  const authorities = new Map([...files].map(([kind, pair]) => [kind, openAuthority(pair, log)]));
  const { certificateSigningRequests } = builtInTypes(vocabulary);
  const requests = informers.of(certificateSigningRequests);
  const add = ({ metadata }: Live<CertificateSigningRequest>): void => queue.add(metadata.name);
  requests.handle({ added: add, updated: add });
  return {
    informers: [requests],
    workers: o.concurrentCertificateSigningSyncs,
    reconcile: async (name, signal) => {
      const csr = requests.store.get(name);
      if (csr === undefined || !awaitsSignature(csr)) return undefined;
      const kind = kindOf(csr.spec?.signerName ?? '', vocabulary);
      const authority = kind === undefined ? undefined : authorities.get(kind);
      if (kind === undefined || authority === undefined) return undefined;
      const request = readOrRefuse(csr);
      const why = typeof request === 'string' ? request : refusal(kind, { request, usages: csr.spec?.usages ?? [] });
      const next =
        why === undefined
          ? withCertificate(csr, request as SigningRequest, authority, o.clusterSigningDurationMs)
          : withCondition(csr, 'Failed', { reason: 'SignerValidationFailure', message: why });
      if (next === undefined) {
        log.warn('A certificate cannot be signed: the authority has ended', { signer: csr.spec?.signerName });
        return { againInMs: AUTHORITY_AGAIN_MS };
      }
      return write(next, signal);
    },
  };

  async function write(next: Live<CertificateSigningRequest>, signal: AbortSignal): Promise<Reconciled> {
    try {
      await client.resource(certificateSigningRequests).update(next, { subresource: 'status' }, signal);
    } catch (err) {
      if (!isApiError(err, 'Conflict', 'NotFound')) throw err; // its change brings it back
    }
    return undefined;
  }
}

/** Approved, not denied, and neither signed nor failed. */
export const awaitsSignature = (csr: CertificateSigningRequest): boolean =>
  has(csr, 'Approved') && !has(csr, 'Denied') && !has(csr, 'Failed') && !hasCertificate(csr);

/** @returns The request, or why it is none. */
function readOrRefuse(csr: CertificateSigningRequest): SigningRequest | string {
  try {
    return readSigningRequest(requestText(csr));
  } catch (err) {
    if (err instanceof DerProblem) return `unable to parse the request: ${err.message}`;
    throw err;
  }
}

function withCertificate(
  csr: Live<CertificateSigningRequest>,
  request: SigningRequest,
  authority: SigningAuthority,
  mostMs: number,
): Live<CertificateSigningRequest> | undefined {
  const { endsAt, ...pair } = authority.current();
  const times = validity(Date.now(), { askedSeconds: csr.spec?.expirationSeconds, mostMs, authorityEnds: endsAt });
  if (times === undefined) return undefined;
  const pem = issueRequested({ ...request, ...times, usages: csr.spec?.usages ?? [] }, pair);
  return { ...csr, status: { ...csr.status, certificate: Buffer.from(pem).toString('base64') } };
}
