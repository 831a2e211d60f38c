import type { Credential, Credentials } from './credential.js';

/** A credential that stays as it is. */
export const fixed = (credential: Omit<Credential, 'certificateVersion'>): Credentials => ({
  current: () => Promise.resolve({ ...credential, certificateVersion: 0 }),
  refused: () => false,
  close: () => undefined,
});

/** User name and password (RFC 7617). The name has no colon. */
export const basicHeader = (username: string, password: string): { readonly authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

/** The certificate of one, if it has any, and what else the other one has. */
export function combined(certificate: Credentials, other: Credentials): Credentials {
  const parts = new WeakMap<Credential, readonly [Credential, Credential]>();
  return {
    async current(signal) {
      const [first, second] = await Promise.all([certificate.current(signal), other.current(signal)]);
      const joined = { ...second, ...first, headers: { ...second.headers, ...first.headers } };
      parts.set(joined, [first, second]);
      return joined;
    },
    refused(used) {
      const [first, second] = parts.get(used) ?? [used, used];
      const either = [certificate.refused(first), other.refused(second)];
      return either.includes(true);
    },
    close() {
      certificate.close();
      other.close();
    },
  };
}
