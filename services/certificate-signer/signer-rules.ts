import type { SigningRequest } from '../machinery/pki/signing-request.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

/** The signers that this process signs for, by what is special of each (spec 2, 2.3). */
export type SignerKind = keyof Vocabulary['signers'];

/** What is asked for: the request, and `spec.usages` beside it. */
export interface Asked {
  readonly request: SigningRequest;
  readonly usages: readonly string[];
}

const NODES = 'system:nodes';
const NODE = 'system:node:';
const CLIENT_USAGES = ['digital signature', 'key encipherment', 'client auth'];
const SERVING_USAGES = ['digital signature', 'key encipherment', 'server auth'];

/** @returns Why a request may not have a certificate of the signer; undefined: it may. */
type Rule = (asked: Asked) => string | undefined;

const isOfNode: Rule = ({ request: { organizations, commonName } }) => {
  if (organizations.length !== 1 || organizations[0] !== NODES) return `subject organization is not ${NODES}`;
  return commonName.startsWith(NODE) ? undefined : `subject common name does not begin with ${NODE}`;
};

const NAMES = { dns: 'DNS', ip: 'IP', email: 'Email', uri: 'URI' } as const;

const withoutNames =
  (...kinds: readonly (keyof typeof NAMES)[]): Rule =>
  ({ request: { alternativeNames: names } }) => {
    const kind = kinds.find((it) => names[it].length > 0);
    return kind === undefined ? undefined : `${NAMES[kind]} subjectAltNames are not allowed`;
  };

const isServing: Rule = ({ request: { alternativeNames: names } }) =>
  names.dns.length + names.ip.length > 0 ? undefined : 'DNS or IP subjectAltName is required';

/** The usages are one of the sets, in any order. */
const exactly =
  (...sets: readonly (readonly string[])[]): Rule =>
  ({ usages }) => {
    const given = [...new Set(usages)].sort().join();
    if (sets.some((set) => [...set].sort().join() === given)) return undefined;
    return `usages did not match [${sets[0]?.join(', ') ?? ''}]`;
  };

const within =
  (allowed: readonly string[]): Rule =>
  ({ usages }) => {
    const other = usages.find((usage) => !allowed.includes(usage));
    return other === undefined ? undefined : `usage ${JSON.stringify(other)} is not allowed`;
  };

const including =
  (usage: string): Rule =>
  ({ usages }) =>
    usages.includes(usage) ? undefined : `usages must include ${JSON.stringify(usage)}`;

const RULES: Readonly<Record<SignerKind, readonly Rule[]>> = {
  apiServerClient: [including('client auth'), within(CLIENT_USAGES)],
  apiServerClientNodeAgent: [isOfNode, withoutNames('dns', 'email', 'ip', 'uri'), exactly(CLIENT_USAGES)],
  // The table of the specification says `client auth` for these as well; agents of nodes ask for what serves (ADR 0014).
  nodeAgentServing: [isOfNode, isServing, withoutNames('email', 'uri'), exactly(SERVING_USAGES, CLIENT_USAGES)],
  legacyUnknown: [],
};

/** Why a signer refuses a request; undefined: it signs. */
export function refusal(kind: SignerKind, asked: Asked): string | undefined {
  for (const rule of RULES[kind]) {
    const why = rule(asked);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Which of the signers a name means; undefined: one of somebody else. */
export const kindOf = (signerName: string, { signers }: Vocabulary): SignerKind | undefined =>
  (Object.keys(signers) as SignerKind[]).find((kind) => signers[kind] === signerName);

/** A certificate that is good for less than this is good for all of it from now on, whatever clocks say. */
const SHORT_MS = 8 * 3_600_000;
/** Clocks of those who look at it may be behind ours. */
const BACKDATE_MS = 5 * 60_000;

export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

/**
 * From when to when a certificate is good: the smaller of what is asked and what is allowed, and no longer than its authority.
 *
 * @param askedSeconds `spec.expirationSeconds` @param authorityEnds Milliseconds since 1970.
 * @returns undefined when the authority has ended.
 */
export function validity(
  now: number,
  o: { readonly askedSeconds: number | undefined; readonly mostMs: number; readonly authorityEnds: number },
): Validity | undefined {
  if (o.authorityEnds <= now) return undefined;
  const lifeMs = Math.min(o.mostMs, (o.askedSeconds ?? Infinity) * 1000);
  const from = now - BACKDATE_MS;
  const to = lifeMs < SHORT_MS ? now + lifeMs : from + lifeMs;
  return { from: new Date(from), to: new Date(Math.min(to, o.authorityEnds)) };
}
