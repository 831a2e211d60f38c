import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Context } from '../../request/request.js';
import type { Authenticator, Identity } from '../authenticator.js';
import type { Authorities } from './authorities.js';
import { subjectOf } from './subject.js';
import { CertificateRefused, verifyPath, type Presented } from './verify.js';

/** Certificates of clients: the common name is the user's name, each organization a group (spec 2, 5.2). */
export function clientCertificates(peers: PeerCertificates): Authenticator {
  /** The same user for all requests of a connection: what is known of users is kept by them. */
  const known = new WeakMap<X509Certificate, Identity>();
  return {
    name: 'client-certificate',
    authenticate: (ctx) => {
      const certificate = peers.of(peerOf(ctx));
      if (certificate === undefined) return undefined;
      let identity = known.get(certificate);
      if (identity === undefined) known.set(certificate, (identity = identityOf(certificate)));
      return identity;
    },
  };
}

function identityOf(certificate: X509Certificate): Identity {
  const { commonName, organizations } = subjectOf(certificate);
  return { user: { name: commonName, uid: '', groups: organizations, extra: {} } };
}

/** The part of a TLS connection that is read here. */
export type Peer = Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>;

/** More than a client with good intentions sends along. */
const MAX_PRESENTED = 16;

interface Judgement {
  readonly generation: number;
  /** undefined: a certificate that does not count. */
  readonly certificate: X509Certificate | undefined;
  readonly untilMs: number;
  readonly refused: CertificateRefused | undefined;
  /** When it is judged again whatever else is the same, by a clock that only rises. */
  readonly againAtMs: number;
}

/** How long a refusal holds. The clock may have been wrong, and be set right while the connection goes on. */
const REFUSED_MS = 1_000;

/**
 * Judges the certificates of connections by one bundle of authorities. A connection is judged once, and again when the
 * authorities change or a certificate ends: connections outlive both. One that is refused is judged again after a moment.
 */
export class PeerCertificates {
  readonly #authorities: Authorities;
  readonly #now: () => number;
  readonly #rising: () => number;
  /** `null`: the connection presents none. */
  readonly #judged = new WeakMap<Peer, Judgement | null>();

  /** @param now The time of day, which may be set. @param rising Milliseconds that only rise. */
  constructor(authorities: Authorities, now = (): number => Date.now(), rising = (): number => performance.now()) {
    this.#authorities = authorities;
    this.#now = now;
    this.#rising = rising;
  }

  /** The verified certificate of a connection; undefined: it presents none. @throws {CertificateRefused} */
  of(peer: Peer): X509Certificate | undefined {
    let judged = this.#judged.get(peer);
    if (judged === null) return undefined;
    if (judged === undefined || !this.#holds(judged)) {
      this.#judged.set(peer, (judged = this.#judge(peer)));
    }
    if (judged?.refused !== undefined) throw judged.refused;
    return judged?.certificate;
  }

  #holds({ generation, untilMs, againAtMs }: Judgement): boolean {
    return generation === this.#authorities.generation && untilMs >= this.#now() && againAtMs > this.#rising();
  }

  #judge(peer: Peer): Judgement | null {
    const presented = presentedBy(peer);
    if (presented === undefined) return null;
    const { anchors, generation } = this.#authorities;
    try {
      if (!peer.authorized) throw new CertificateRefused('The certificate was refused by TLS');
      const { untilMs } = verifyPath(presented, anchors, this.#now());
      return { generation, certificate: presented[0], untilMs, refused: undefined, againAtMs: Infinity };
    } catch (err) {
      if (!(err instanceof CertificateRefused)) throw err;
      const againAtMs = this.#rising() + REFUSED_MS;
      return { generation, certificate: undefined, untilMs: Infinity, refused: err, againAtMs };
    }
  }
}

function presentedBy(peer: Peer): Presented | undefined {
  const leaf = peer.getPeerX509Certificate();
  if (leaf === undefined) return undefined;
  const presented: [X509Certificate, ...X509Certificate[]] = [leaf];
  for (
    let at = leaf.issuerCertificate;
    at !== undefined && presented.length < MAX_PRESENTED;
    at = at.issuerCertificate
  ) {
    presented.push(at);
  }
  return presented;
}

/** HTTP/2 requests share a session's socket behind a proxy; the session tells the real one. */
export function peerOf({ req }: Context): Peer {
  const session = 'stream' in req ? (req.stream as { session?: { socket: unknown } }).session : undefined;
  return (session?.socket ?? req.socket) as Peer;
}
