import type { ConfigMap } from '../machinery/types/generated/core.v1.js';
import type { SigningToken } from './bootstrap-secret.js';

/** Keys of the data. */
export const KUBECONFIG = 'kubeconfig';
const SIGNATURE_PREFIX = 'jws-kubeconfig-';

/**
 * Signs a text with a token, which both sides know: a detached JSON Web Signature (RFC 7515, appendix F) by HS256, whose key
 * id is that of the token (spec 2, 5.5).
 */
export async function detachedSignature(text: string, { id, token }: SigningToken): Promise<string> {
  const { CompactSign } = await import('jose'); // slow to load
  const whole = await new CompactSign(Buffer.from(text))
    .setProtectedHeader({ alg: 'HS256', kid: id })
    .sign(Buffer.from(token));
  const [header = '', , signature = ''] = whole.split('.');
  return `${header}..${signature}`;
}

/**
 * The data with a client configuration, a signature of it for each token, and none for others. Signatures are the same for the
 * same text and token, so what is right stays.
 *
 * @param text The configuration; by default the one that is there. @returns undefined when that is what it is.
 */
export async function signedData(
  { data = {} }: ConfigMap,
  tokens: readonly SigningToken[],
  text = data[KUBECONFIG] ?? '',
): Promise<Readonly<Record<string, string>> | undefined> {
  const kept = Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signers = text === '' ? [] : tokens;
  const signatures = await Promise.all(
    signers.map(async (it) => [`${SIGNATURE_PREFIX}${it.id}`, await detachedSignature(text, it)] as const),
  );
  const configuration = text === '' ? [] : [[KUBECONFIG, text] as const];
  const wanted = Object.fromEntries([...kept, ...configuration, ...signatures]);
  const isSame =
    Object.keys(wanted).length === Object.keys(data).length && Object.entries(wanted).every(([k, v]) => data[k] === v);
  return isSame ? undefined : wanted;
}

/** Whether a client configuration was written by `publicKubeconfig`, for whichever server. */
export function isPublished(text: string): boolean {
  const [, server = '', authorities = ''] = /^ +server: (".*")\n +certificate-authority-data: (.*)$/m.exec(text) ?? [];
  try {
    return text === publicKubeconfig(JSON.parse(server) as string, Buffer.from(authorities, 'base64').toString());
  } catch {
    return false; // no JSON
  }
}

/** A client configuration without a user: where the server is, and whom to trust. The same input gives the same text. */
export const publicKubeconfig = (server: string, authorities: string): string => `apiVersion: v1
kind: Config
clusters:
  - name: ""
    cluster:
      server: ${JSON.stringify(server)}
      certificate-authority-data: ${Buffer.from(authorities).toString('base64')}
contexts: []
users: []
current-context: ""
preferences: {}
`;
