import type { X509Certificate } from 'node:crypto';
import { headersOf, removeHeaders } from '../../http/headers.js';
import type { ApiServerOptions } from '../../options/flags.js';
import type { Context } from '../../request/request.js';
import { addExtra } from '../extra.js';
import { SpeakerRefused, type Authenticator, type Identity } from '../authenticator.js';
import { peerOf, type PeerCertificates } from './client-certificate.js';
import { subjectOf } from './subject.js';
import { CertificateRefused } from './verify.js';

/** Names of headers are in any case, those of users in the order in which they are looked at. */
export type RequestHeaderOptions = Pick<
  ApiServerOptions,
  | 'requestHeaderAllowedNames'
  | 'requestHeaderUsernameHeaders'
  | 'requestHeaderGroupHeaders'
  | 'requestHeaderExtraHeadersPrefix'
>;

/**
 * A proxy that has authenticated the client says in headers who it is (spec 2, 5.7). They count only from a connection
 * with a certificate of the proxies' authorities, and are taken off every request.
 *
 * @param peers Certificates of the authorities of proxies.
 */
export function requestHeaders(o: RequestHeaderOptions, peers: PeerCertificates): Authenticator {
  const names = o.requestHeaderUsernameHeaders.map(lower);
  const groups = new Set(o.requestHeaderGroupHeaders.map(lower));
  const prefixes = o.requestHeaderExtraHeadersPrefix.map(lower).filter((prefix) => prefix !== '');
  const isOurs = (name: string): boolean =>
    names.includes(name) || groups.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  const isProxy = proxyCheck(peers, new Set(o.requestHeaderAllowedNames));
  return {
    name: 'request-header',
    authenticate: (ctx) => {
      if (!Object.keys(ctx.req.headers).some(isOurs)) return undefined;
      try {
        return isProxy(ctx) ? identityOf(headersIn(ctx, isOurs), names, groups, prefixes) : undefined;
      } finally {
        removeHeaders(ctx.req, isOurs);
      }
    },
  };
}

/** False without a certificate. @throws {CertificateRefused} for one that is no proxy's */
function proxyCheck(peers: PeerCertificates, allowed: ReadonlySet<string>): (ctx: Context) => boolean {
  const checked = new WeakSet<X509Certificate>();
  return (ctx) => {
    const certificate = peers.of(peerOf(ctx));
    if (certificate === undefined) return false;
    if (checked.has(certificate)) return true;
    if (allowed.size > 0 && !allowed.has(subjectOf(certificate).commonName)) {
      throw new CertificateRefused('The certificate has not the name of a proxy');
    }
    checked.add(certificate);
    return true;
  };
}

type Header = ReturnType<typeof headersOf>[number];

/** @throws {SpeakerRefused} when one of them cannot be read */
function headersIn({ req }: Context, isOurs: (name: string) => boolean): readonly Header[] {
  try {
    return headersOf(req, isOurs);
  } catch (err) {
    throw new SpeakerRefused('A header of the proxy cannot be read', { cause: err });
  }
}

function identityOf(
  headers: readonly Header[],
  names: readonly string[],
  groups: ReadonlySet<string>,
  prefixes: readonly string[],
): Identity {
  const name = userNameOf(headers, names);
  const extra: Record<string, string[]> = {};
  for (const { name: header, value } of headers) {
    const prefix = prefixes.find((p) => header.startsWith(p));
    if (prefix !== undefined && !groups.has(header)) addExtra(extra, header.slice(prefix.length), value);
  }
  const of = headers.filter((header) => groups.has(header.name) && header.value !== '').map(({ value }) => value);
  return { user: { name, uid: '', groups: of, extra } };
}

/**
 * The value of the first of `names` that has one.
 *
 * @throws {SpeakerRefused} when it comes twice, and when none has one: the proxy's certificate may be good for a user of
 * its own, and the request is not his
 */
function userNameOf(headers: readonly Header[], names: readonly string[]): string {
  for (const name of names) {
    const [value, ...others] = headers.filter((header) => header.name === name && header.value !== '');
    if (others.length > 0) throw new SpeakerRefused('The proxy tells the name of the user more than once');
    if (value !== undefined) return value.value;
  }
  throw new SpeakerRefused('The proxy does not tell the name of the user');
}

const lower = (name: string): string => name.toLowerCase();
