import type { OpenSsl } from '../../services/machinery/pki/testing/openssl.js';
import type { ApiObject } from '../../services/machinery/meta/object.js';
import type { Vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { eventually } from '../api/tools/objects.js';
import type { Answer, Client } from './client.js';

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
export const CLIENT_USAGES = ['digital signature', 'key encipherment', 'client auth'];
export const SERVER_USAGES = ['digital signature', 'key encipherment', 'server auth'];

/** A key and a request for its certificate, as openssl makes them. */
export interface Asked {
  readonly key: string;
  readonly request: string;
}

/** @param names e.g. `DNS:a,IP:10.0.0.1` @param key of openssl's `-newkey` */
export function askWith(openssl: OpenSsl, subject: string, names = '', key: readonly string[] = P256): Asked {
  const more = names === '' ? [] : ['-addext', `subjectAltName=${names}`];
  openssl.run('req', '-new', '-newkey', ...key, '-nodes', '-keyout', 'key', '-out', 'request', '-subj', subject, ...more); // prettier-ignore
  return { key: openssl.read('key').toString(), request: openssl.read('request').toString() };
}

export interface Condition {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Signing {
  readonly conditions?: readonly Condition[];
  readonly certificate?: string;
}

/** Requests for certificates on one server. */
export class CertificateRequests {
  readonly #path: string;
  readonly #apiVersion: string;

  constructor({ groups }: Vocabulary) {
    this.#apiVersion = `${groups.certificates}/v1`;
    this.#path = `/apis/${this.#apiVersion}/certificatesigningrequests`;
  }

  create(client: Client, name: string, request: string, spec: object): Promise<Answer> {
    const whole = { request: Buffer.from(request).toString('base64'), usages: CLIENT_USAGES, ...spec };
    return client.post(this.#path, {
      apiVersion: this.#apiVersion,
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: whole,
    });
  }

  async get(client: Client, name: string): Promise<ApiObject> {
    return (await client.get(`${this.#path}/${name}`)).json();
  }

  async decide(client: Client, name: string, type = 'Approved'): Promise<Answer> {
    const object = await this.get(client, name);
    const status = { conditions: [{ type, status: 'True', reason: 'ByTest', message: 'the test wants it' }] };
    return client.put(`${this.#path}/${name}/approval`, { ...object, status });
  }

  /** What the signer made of it: the certificate in PEM, or why there is none. */
  signed(client: Client, name: string): Promise<{ readonly certificate: string; readonly failed?: Condition }> {
    return eventually(async () => {
      const { conditions = [], certificate = '' } = ((await this.get(client, name))['status'] ?? {}) as Signing;
      const failed = conditions.find(({ type }) => type === 'Failed');
      if (certificate === '' && failed === undefined) return undefined;
      return { certificate: Buffer.from(certificate, 'base64').toString(), ...(failed !== undefined && { failed }) };
    });
  }

  async conditions(client: Client, name: string): Promise<readonly Condition[]> {
    return (((await this.get(client, name))['status'] ?? {}) as Signing).conditions ?? [];
  }
}
