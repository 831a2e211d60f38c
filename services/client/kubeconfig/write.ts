/** A cluster, a user who presents a certificate, and the two together. */
export interface CertificateConfig {
  readonly cluster: string;
  readonly user: string;
  /** e.g. `https://127.0.0.1:6443` */
  readonly server: string;
  /** Certificates of the authorities that the server's certificate is checked against; PEM. */
  readonly authority: string;
  /** PEM */
  readonly certificate: string;
  /** PEM */
  readonly key: string;
}

const quoted = (text: string): string => JSON.stringify(text); // YAML reads JSON's strings
const base64 = (pem: string): string => Buffer.from(pem).toString('base64');

/** The text of a client configuration file that needs no other file. The same input gives the same text. */
export function kubeconfigText(c: CertificateConfig): string {
  const context = `${c.user}@${c.cluster}`;
  return `apiVersion: v1
kind: Config
clusters:
  - name: ${quoted(c.cluster)}
    cluster:
      server: ${quoted(c.server)}
      certificate-authority-data: ${base64(c.authority)}
users:
  - name: ${quoted(c.user)}
    user:
      client-certificate-data: ${base64(c.certificate)}
      client-key-data: ${base64(c.key)}
contexts:
  - name: ${quoted(context)}
    context:
      cluster: ${quoted(c.cluster)}
      user: ${quoted(c.user)}
current-context: ${quoted(context)}
`;
}
