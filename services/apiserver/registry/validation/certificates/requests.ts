import type { ApiObject } from '../../../../machinery/meta/object.js';
import { signingRequestProblem } from '../../../../machinery/pki/signing-request.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import { each } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';
import { checkSignerName } from './signer-names.js';
import { checkApproval, checkStatus } from './states.js';

interface RequestSpec {
  /** In base64; always written. */
  readonly request?: string | null;
  readonly signerName?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

/** In the order in which messages list them. */
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** More would be cut from the message. */
const MOST_SHOWN_BYTES = 1024;

const shownBytes = (bytes: Buffer): string =>
  `[]byte{${[...bytes.subarray(0, MOST_SHOWN_BYTES)].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;

function checkRequest(at: At, request: string): void {
  const bytes = Buffer.from(request, 'base64');
  const problem = signingRequestProblem(bytes.toString('latin1'));
  if (problem !== undefined) at.invalidShown('request', shownBytes(bytes), problem);
}

function checkUsages(at: At, usages: readonly string[] = []): void {
  if (usages.length === 0) at.required('usages');
  each(at, 'usages', usages, (usage, usageAt) => {
    if (!USAGES.includes(usage)) usageAt.notSupported('', usage, USAGES);
  });
  const seen = new Set<string>();
  each(at, 'usages', usages, (usage, usageAt) => {
    if (seen.has(usage)) usageAt.duplicate('', usage);
    seen.add(usage);
  });
}

const SHORTEST_SECONDS = 600;

const checkSigningRequest =
  (legacySigner: string) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const { request, signerName = '', usages, expirationSeconds }: RequestSpec = object['spec'] ?? {};
    checkRequest(at, request ?? '');
    checkUsages(at, usages);
    if (signerName === legacySigner) {
      at.invalid('signerName', signerName, 'the legacy signerName is not allowed via this API version');
    } else {
      checkSignerName(at, 'signerName', signerName);
    }
    if (expirationSeconds !== undefined && expirationSeconds < SHORTEST_SECONDS) {
      const why = `may not specify a duration less than ${SHORTEST_SECONDS} seconds (10 minutes)`;
      at.invalid('expirationSeconds', expirationSeconds, why);
    }
  };

/** What is asked for never changes, so it is looked at once. */
export const certificateSigningRequests = ({ signers }: Vocabulary): KindValidation => ({
  create: checkSigningRequest(signers.legacyUnknown),
  parts: { status: checkStatus, approval: checkApproval },
});
