import type { X509Certificate } from 'node:crypto';
import type { Authenticator, Identity } from '../authenticator.js';
import { peerOf, type PeerCertificates } from './peer.js';
import { subjectOf } from './subject.js';

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
