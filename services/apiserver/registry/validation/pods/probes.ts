import type { At } from '../checks/at.js';
import { checkEnum, checkNotNegative, checkPortOrName, checkRule } from '../checks/members.js';
import { httpHeaderName } from '../checks/text.js';

interface Handler {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: {
    readonly port?: number | string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name?: string }[];
  };
  readonly tcpSocket?: { readonly port?: number | string };
  readonly grpc?: { readonly port?: number };
}

export interface Probe extends Handler {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface Lifecycle {
  readonly postStart?: Handler;
  readonly preStop?: Handler;
}

function checkHttpGet(at: At, { port = 0, scheme, httpHeaders = [] }: NonNullable<Handler['httpGet']>): void {
  checkPortOrName(at, 'port', port);
  checkEnum(at, 'scheme', scheme, ['HTTP', 'HTTPS']);
  for (const { name = '' } of httpHeaders) checkRule(at, 'httpHeaders', name, httpHeaderName);
}

/** Each takes the place of the handler's own member. */
const HANDLERS: readonly (readonly [keyof Handler, (at: At, handler: Handler) => void])[] = [
  [
    'exec',
    (at, { exec }) => {
      if ((exec?.command ?? []).length === 0) at.required('command');
    },
  ],
  ['httpGet', (at, { httpGet }) => checkHttpGet(at, httpGet ?? {})],
  ['tcpSocket', (at, { tcpSocket }) => checkPortOrName(at, 'port', tcpSocket?.port ?? 0)],
  ['grpc', (at, { grpc }) => checkPortOrName(at, 'port', grpc?.port ?? 0)],
];

/** @param isNewer Whether one is there of a type that is not known here. */
function checkHandler(at: At, handler: Handler, isNewer = false): void {
  let count = isNewer ? 1 : 0;
  for (const [member, check] of HANDLERS) {
    if (handler[member] === undefined) continue;
    if (count > 0) at.forbidden(member, 'may not specify more than 1 handler type');
    else check(at.child(member), handler);
    count++;
  }
  if (count === 0) at.required('', 'must specify a handler type');
}

const NOT_NEGATIVE = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function checkProbe(at: At, probe: Probe): void {
  checkHandler(at, probe);
  for (const member of NOT_NEGATIVE) checkNotNegative(at, member, probe[member]);
  const { terminationGracePeriodSeconds: grace } = probe;
  if (grace !== undefined && grace <= 0) at.invalid('terminationGracePeriodSeconds', grace, 'must be greater than 0');
}

export interface Probes {
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

export function checkProbes(at: At, probes: Probes): void {
  for (const member of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = probes[member];
    if (probe === undefined) continue;
    const probeAt = at.child(member);
    checkProbe(probeAt, probe);
    const { successThreshold = 1, terminationGracePeriodSeconds: grace } = probe;
    if (member === 'readinessProbe') {
      if (grace !== undefined) {
        probeAt.invalid('terminationGracePeriodSeconds', grace, 'must not be set for readinessProbes');
      }
    } else if (successThreshold !== 1) {
      probeAt.invalid('successThreshold', successThreshold, 'must be 1');
    }
  }
}

export function checkLifecycle(at: At, lifecycle: Lifecycle): void {
  for (const member of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[member];
    if (handler !== undefined) checkHandler(at.child(member), handler, 'sleep' in handler);
  }
}
