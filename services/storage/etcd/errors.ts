import { StoreError, type StoreErrorCode } from '../store.js';

/** gRPC status codes that are told apart. */
export const GRPC = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** How a call ended, in the words of gRPC. */
export interface GrpcStatus {
  readonly code: number;
  readonly message: string;
}

interface ErrorRule {
  readonly grpc: number;
  /** Prefix of the message; '' is any. */
  readonly message: string;
  readonly code: StoreErrorCode;
  /** The member cannot serve at present: another may. */
  readonly failover?: true;
  /** The member turned the call away before it looked at it, so that a write may go elsewhere. */
  readonly untouched?: true;
}

/** From errors of etcd to errors of stores. The first rule that fits counts. */
const RULES: readonly ErrorRule[] = [
  { grpc: GRPC.outOfRange, message: 'etcdserver: mvcc: required revision has been compacted', code: 'compacted' },
  { grpc: GRPC.outOfRange, message: 'etcdserver: mvcc: required revision is a future revision', code: 'future' },
  { grpc: GRPC.invalidArgument, message: 'etcdserver: request is too large', code: 'tooLarge' },
  { grpc: GRPC.invalidArgument, message: 'etcdserver: too many operations in txn request', code: 'tooLarge' },
  { grpc: GRPC.resourceExhausted, message: 'grpc: received message larger than max', code: 'tooLarge' },
  { grpc: GRPC.resourceExhausted, message: 'etcdserver: mvcc: database space exceeded', code: 'noSpace' },
  { grpc: GRPC.notFound, message: 'etcdserver: requested lease not found', code: 'leaseNotFound' },
  { grpc: GRPC.permissionDenied, message: '', code: 'denied' },
  { grpc: GRPC.unauthenticated, message: '', code: 'denied' },
  { grpc: GRPC.invalidArgument, message: 'etcdserver: authentication failed', code: 'denied' },
  { grpc: GRPC.invalidArgument, message: 'etcdserver: user name', code: 'denied' },
  { grpc: GRPC.dataLoss, message: '', code: 'corrupt' },
  { grpc: GRPC.unavailable, message: 'etcdserver: no leader', code: 'unavailable', failover: true, untouched: true },
  {
    grpc: GRPC.unavailable,
    message: 'etcdserver: rpc not supported for learner',
    code: 'unavailable',
    failover: true,
    untouched: true,
  },
  { grpc: GRPC.unavailable, message: 'etcdserver: not capable', code: 'unavailable', failover: true, untouched: true },
  { grpc: GRPC.unavailable, message: 'etcdserver: server stopped', code: 'unavailable', failover: true },
  { grpc: GRPC.unavailable, message: 'etcdserver: unhealthy cluster', code: 'unavailable', failover: true },
  { grpc: GRPC.unavailable, message: 'etcdserver: request timed out', code: 'unavailable', failover: true },
];

const OTHER: ErrorRule = { grpc: GRPC.unavailable, message: '', code: 'unavailable' };

export const ruleOf = (status: GrpcStatus): Omit<ErrorRule, 'grpc' | 'message'> =>
  RULES.find((it) => it.grpc === status.code && status.message.startsWith(it.message)) ?? OTHER;

/** @param what Names the call, as in "Txn". @param isWrite Whether it may have been done, unless the member says otherwise. */
export function errorOf(what: string, status: GrpcStatus, { isWrite = false } = {}): StoreError {
  const { code, untouched = false } = ruleOf(status);
  const mayBeDone = isWrite && code === 'unavailable' && !untouched;
  if (code === 'noSpace') return new StoreError(code, status.message); // as operators know it
  return new StoreError(code, `${what} failed: ${status.message} (gRPC status ${status.code})`, { mayBeDone });
}

export const unavailable = (message: string, cause?: unknown): StoreError =>
  new StoreError('unavailable', message, { cause });

/** An error of a write that was under way: whatever ended the wait, it may have been done. */
export const underWay = (err: StoreError): StoreError =>
  new StoreError(err.code, err.message, { cause: err, mayBeDone: true });

export const closedError = (): StoreError => new StoreError('closed', 'The store was closed');

/** Some errors of the network carry a code and no message. */
export function messageOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  return err.message === '' && 'code' in err ? String(err.code) : err.message;
}
