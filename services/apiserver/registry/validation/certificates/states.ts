import { X509Certificate } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parseDer } from '../../../../machinery/pki/der.js';
import { pemBlocks } from '../../../../machinery/pki/pem.js';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from '../../../../machinery/types/generated/certificates.v1.js';
import type { Problems } from '../types.js';
import { At, each, requireEnum } from '../checks/at.js';

type Condition = CertificateSigningRequestCondition;
type RequestStatus = CertificateSigningRequestStatus;

const STATUSES = ['False', 'True', 'Unknown'];
const APPROVED = 'Approved';
const DENIED = 'Denied';
/** Conditions that are decisions: these are True, and stay. */
const DECISIONS = [APPROVED, DENIED, 'Failed'];
const EXCLUSIVE = [APPROVED, DENIED];

const typesOf = ({ conditions = [] }: RequestStatus): readonly string[] => conditions.map(({ type = '' }) => type);
const hasTwins = (types: readonly string[]): boolean => new Set(types).size < types.length;
const hasBoth = (types: readonly string[]): boolean => EXCLUSIVE.every((type) => types.includes(type));

/** Values stored before there was a rule may stay as they are. */
function checkConditions(at: At, status: RequestStatus, oldTypes: readonly string[]): void {
  const seen = new Set<string>();
  each(at, 'conditions', status.conditions, ({ type = '', status: value }, conditionAt) => {
    if (type === '' && !oldTypes.includes('')) conditionAt.required('type');
    requireEnum(conditionAt, 'status', value, DECISIONS.includes(type) ? ['True'] : STATUSES);
    const other = type === APPROVED ? DENIED : APPROVED;
    if (EXCLUSIVE.includes(type) && seen.has(other) && !hasBoth(oldTypes)) {
      conditionAt.invalid('type', type, 'Approved and Denied conditions are mutually exclusive');
    }
    if (seen.has(type) && !hasTwins(oldTypes)) conditionAt.duplicate('type', type);
    seen.add(type);
  });
}

/** @returns What is wrong with the certificates; undefined when they are some, or none. */
export function certificateProblem(base64 = ''): string | undefined {
  if (base64 === '') return undefined;
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return undefined;
}

function isCertificate(bytes: Buffer): boolean {
  try {
    parseDer(bytes); // the runtime reads other forms, too, and does not mind what comes after
    new X509Certificate(bytes);
    return true;
  } catch {
    return false;
  }
}

const ofType = ({ conditions = [] }: RequestStatus, type: string): readonly Condition[] =>
  conditions.filter((condition) => condition.type === type);

function checkKept(at: At, status: RequestStatus, old: RequestStatus): void {
  for (const type of DECISIONS) {
    if (ofType(status, type).length < ofType(old, type).length) {
      at.forbidden('conditions', `updates may not remove a condition of type "${type}"`);
    }
  }
}

/** The right to write the status is not the right to approve. */
function checkNotDecided(at: At, status: RequestStatus, old: RequestStatus): void {
  for (const type of EXCLUSIVE) {
    const now = ofType(status, type);
    const before = ofType(old, type);
    if (now.length > before.length) {
      at.forbidden('conditions', `updates may not add a condition of type "${type}"`);
    } else if (now.length === before.length && !isDeepStrictEqual(now, before)) {
      at.forbidden('conditions', `updates may not modify a condition of type "${type}"`);
    }
  }
}

/** Only what has been approved is signed (spec 2, 3.1), and only once. */
function checkCertificate(at: At, { certificate = '' }: RequestStatus, before: RequestStatus): void {
  const { certificate: old = '' } = before;
  if (certificate === old) return;
  const types = typesOf(before);
  const isApproved = types.includes(APPROVED) && !types.includes(DENIED);
  if (certificate !== '' && !isApproved) at.forbidden('certificate', 'the request has not been approved');
  const problem = certificateProblem(old) === undefined ? certificateProblem(certificate) : undefined;
  if (problem !== undefined) at.invalid('certificate', '<certificate data>', problem);
  if (old !== '') at.forbidden('certificate', 'updates may not modify existing certificate content');
}

type Request = CertificateSigningRequest;

/** Rules for writes of the status: conditions are added, and a certificate once. */
export function checkStatus({ status = {} }: Request, { status: old = {} }: Request, problems: Problems): void {
  const at = At.root(problems, 'status');
  checkConditions(at, status, typesOf(old));
  checkKept(at, status, old);
  checkNotDecided(at, status, old);
  checkCertificate(at, status, old);
}

/** Rules for decisions: a decision contradicts no other, and none is taken back. */
export function checkApproval({ status = {} }: Request, { status: old = {} }: Request, problems: Problems): void {
  const at = At.root(problems, 'status');
  checkConditions(at, status, typesOf(old));
  checkKept(at, status, old);
}
