import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import { DerProblem } from '../machinery/pki/der.js';
import { readSigningRequest } from '../machinery/pki/signing-request.js';
import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { has, hasCertificate, requestText, withCondition } from './conditions.js';
import { refusal } from './signer-rules.js';

/** A requester may be given the right later. */
const AGAIN_MS = 10_000;

export interface ApprovingOptions {
  readonly concurrentCertificateSigningSyncs: number;
}

/** Rights by which requests for clients of nodes are approved, the narrower one first. */
type Right = 'selfnodeclient' | 'nodeclient';
const MESSAGES: Readonly<Record<Right, string>> = {
  selfnodeclient: "Approved automatically: a node's agent renews its own client certificate",
  nodeclient: "Approved automatically: a client certificate for a node's agent",
};

/**
 * Approves requests of agents of nodes for client certificates (spec 2, 2.3) whose requesters have the right to be
 * approved: `create` on `certificatesigningrequests/selfnodeclient` or `/nodeclient`. A key is the name of a request.
 */
export function openApproving(o: ApprovingOptions, d: ControllerDeps): Controller {
  const { client, informers, vocabulary, queue } = d;
  const { certificateSigningRequests, subjectAccessReviews } = builtInTypes(vocabulary);
  const requests = informers.of(certificateSigningRequests);
  const add = ({ metadata }: Live<CertificateSigningRequest>): void => queue.add(metadata.name);
  requests.handle({ added: add, updated: add });

  const may = async (csr: CertificateSigningRequest, subresource: Right, signal: AbortSignal): Promise<boolean> => {
    const { username = '', groups = [], uid = '', extra = {} } = csr.spec ?? {};
    const { group, resource } = certificateSigningRequests;
    const resourceAttributes = { group, resource, subresource, verb: 'create', version: '*' };
    const review = { metadata: {}, spec: { user: username, groups, uid, extra, resourceAttributes } };
    const { status } = await client.resource(subjectAccessReviews).create(review, {}, signal);
    return status?.allowed === true;
  };

  return {
    informers: [requests],
    workers: o.concurrentCertificateSigningSyncs,
    reconcile: async (name, signal) => {
      const csr = requests.store.get(name);
      if (csr === undefined || !isPending(csr)) return undefined;
      const rights = rightsFor(csr, vocabulary);
      for (const right of rights) {
        if (!(await may(csr, right, signal))) continue;
        const approved = withCondition(csr, 'Approved', { reason: 'AutoApproved', message: MESSAGES[right] });
        try {
          await client.resource(certificateSigningRequests).update(approved, { subresource: 'approval' }, signal);
        } catch (err) {
          if (!isApiError(err, 'Conflict', 'NotFound')) throw err; // its change brings it back
        }
        return undefined;
      }
      return rights.length === 0 ? undefined : { againInMs: AGAIN_MS };
    },
  };
}

export const isPending = (csr: CertificateSigningRequest): boolean =>
  !has(csr, 'Approved') && !has(csr, 'Denied') && !has(csr, 'Failed') && !hasCertificate(csr);

/** The rights by any of which a request is approved; none for what is no request for a client of a node. */
export function rightsFor(csr: CertificateSigningRequest, { signers }: Vocabulary): readonly Right[] {
  const { signerName, usages = [], username } = csr.spec ?? {};
  if (signerName !== signers.apiServerClientNodeAgent) return [];
  try {
    const request = readSigningRequest(requestText(csr));
    if (refusal('apiServerClientNodeAgent', { request, usages }) !== undefined) return [];
    return request.commonName === username ? ['selfnodeclient', 'nodeclient'] : ['nodeclient'];
  } catch (err) {
    if (err instanceof DerProblem) return [];
    throw err;
  }
}
