import { X509Certificate } from 'node:crypto';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError } from '../client/rest/client.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import { conditionOf, hasCertificate, type ConditionType } from './conditions.js';

const HOUR_MS = 3_600_000;
/** Spec 2, 3.1 and section 8. */
const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;
/** Longest that a timer runs. */
const MAX_WAIT_MS = HOUR_MS;

/** Deletes requests whose time is over. A key is the name of a request; each has a timer of its own. */
export function openCleaning(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const { certificateSigningRequests } = builtInTypes(vocabulary);
  const requests = informers.of(certificateSigningRequests);
  const add = ({ metadata }: Live<CertificateSigningRequest>): void => queue.add(metadata.name);
  requests.handle({ added: add, updated: add });
  return {
    informers: [requests],
    workers: 1,
    reconcile: async (name, signal) => {
      const csr = requests.store.get(name);
      if (csr === undefined || csr.metadata.deletionTimestamp !== undefined) return undefined;
      const leftMs = endOf(csr) - Date.now();
      if (leftMs > 0) return { againInMs: Math.min(leftMs, MAX_WAIT_MS) };
      const { uid, resourceVersion } = csr.metadata;
      try {
        // Only the state that was judged: a change may be a decision that it waited for.
        await client
          .resource(certificateSigningRequests)
          .delete({ name }, { preconditions: { uid, resourceVersion } }, signal);
      } catch (err) {
        if (!isApiError(err, 'Conflict', 'NotFound')) throw err;
      }
      return undefined;
    },
  };
}

const DECISIONS: readonly ConditionType[] = ['Approved', 'Denied', 'Failed'];

/** When a request is to be deleted: an hour after it was decided, a day after it was made, or when its certificate ends. */
export function endOf(csr: CertificateSigningRequest): number {
  const made = Date.parse(csr.metadata?.creationTimestamp ?? '');
  const decided = DECISIONS.flatMap((type) => {
    const condition = conditionOf(csr, type);
    if (condition === undefined) return [];
    const at = Date.parse(condition.lastUpdateTime ?? '');
    return [Number.isNaN(at) ? made : at];
  });
  const end = decided.length === 0 ? made + PENDING_MS : Math.max(...decided) + DECIDED_MS;
  return Math.min(end, certificateEnd(csr));
}

/** Infinity without a certificate, or with one that cannot be read. */
function certificateEnd(csr: CertificateSigningRequest): number {
  if (!hasCertificate(csr)) return Infinity;
  try {
    const end = Date.parse(new X509Certificate(Buffer.from(csr.status?.certificate ?? '', 'base64')).validTo);
    return Number.isNaN(end) ? Infinity : end;
  } catch {
    return Infinity;
  }
}
