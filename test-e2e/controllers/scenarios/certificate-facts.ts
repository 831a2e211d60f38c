import { X509Certificate } from 'node:crypto';
import { OpenSsl } from '../../../services/machinery/pki/testing/openssl.js';

const MINUTE_MS = 60_000;
/** What is not the same for each key and each authority. */
const KEY_IDS = /^[0-9A-F:]+$/;

/** A line `X509v3 Name: critical` and what is indented below it, of the text form of a certificate. */
function extensionsIn(text: string): readonly string[] {
  const [, below = ''] = text.split('X509v3 extensions:');
  const [list = ''] = below.split('Signature Algorithm');
  return list
    .split('X509v3 ')
    .slice(1)
    .map((part) => {
      const [name = '', ...values] = part.split('\n').map((line) => line.trim());
      const value = values.filter((it) => it !== '').join(' ');
      return `${name} ${KEY_IDS.test(value.replace(/^keyid:/, '')) ? '<key>' : value}`.replace(/ +/g, ' ').trim();
    })
    .sort();
}

/**
 * What matters of a certificate: for whom, for what, and how long.
 *
 * @param asked When it was asked for, in milliseconds since 1970.
 */
export function certificateFacts(pem: string, asked: number): object {
  const openssl = new OpenSsl();
  try {
    const text = openssl.run('x509', '-in', openssl.write('leaf.crt', pem), '-noout', '-text');
    const { subject, validFrom, validTo, ca } = new X509Certificate(pem);
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return {
      version: /Version: (\d)/.exec(text)?.[1],
      subject: subject.split('\n'),
      ca,
      extensions: extensionsIn(text),
      minutes: (to - from) / MINUTE_MS,
      isBackdated: from < asked,
    };
  } finally {
    openssl.remove();
  }
}
