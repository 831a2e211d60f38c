import type { OutgoingHttpHeaders } from 'node:http';
import { checkCertificates } from '../../../client/kubeconfig/source.js';
import { machineAuthorities } from '../../../client/kubeconfig/machine-authorities.js';
import type { ServerTrust } from '../../../client/kubeconfig/connection.js';
import { CredentialError } from '../../../client/credentials/credential.js';
import { unlessAborted } from '../../../client/deadline/deadline.js';
import { readAnswer } from '../../../client/remote/answer.js';
import { exchange, type Exchanged } from '../../../client/remote/exchange.js';
import {
  RemoteError,
  type RemoteAnswer,
  type RemoteFailure,
  type RemoteService,
} from '../../../client/remote/remote-service.js';
import type { WebhookClientConfig } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { AdmissionObjects } from '../objects.js';
import type { Pools } from './pools.js';
import { placesOf, type Place } from './service-places.js';
import type { WebhookUsers } from './credentials.js';

export interface WebhookServiceDeps {
  readonly objects: Pick<AdmissionObjects, 'cached'>;
  readonly users: WebhookUsers;
  readonly pools: Pools;
  readonly userAgent: string;
}

/** Longest answer: the largest object that is taken, as a patch in Base64, and some more. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024;
const HTTPS = 443;
/** Servers behind a service that are tried for one question. */
const MAX_TRIED = 3;
/** Longest time to connect to a server, where there is another one. */
const CONNECT_MS = 1_000;
/** Servers that did not answer last time, remembered for one service. */
const MAX_SILENT = 64;

/** Failures after which another server of the same service is tried. */
const TRIED_PAST: ReadonlySet<RemoteFailure> = new Set<RemoteFailure>(['connection', 'untrusted']);

/** How a webhook is reached, of its `clientConfig`. */
interface Target {
  /** Shown in errors, and what the request is for; without the query. */
  readonly url: URL;
  /** Host and port. */
  readonly address: string;
  readonly trust: ServerTrust;
  /** Of a service, from the present state of the cache; of a URL, its own. */
  readonly places: () => readonly Place[];
}

/** A webhook behind a URL or a service (spec 2, 2.7). Each question goes to one server; the next one begins with another. */
export class WebhookService implements RemoteService {
  readonly #d: WebhookServiceDeps;
  readonly #target: Target;
  readonly #query: string;
  readonly #silent = new Set<string>();
  #asked = 0;

  /** @throws {Error} For a bundle of authorities that cannot be read. */
  constructor(config: WebhookClientConfig, timeoutSeconds: number, d: WebhookServiceDeps) {
    this.#d = d;
    this.#target = targetOf(config, d.objects);
    this.#query = `?timeout=${timeoutSeconds}s`;
  }

  /** As it is told to people, e.g. `Post "https://hook.default.svc:443/path?timeout=10s"`. */
  get shown(): string {
    return `Post ${JSON.stringify(`${shownUrl(this.#target)}${this.#query}`)}`;
  }

  /** @param body A review in JSON. */
  async post(body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    const bytes =
      body instanceof Uint8Array
        ? Buffer.from(body.buffer, body.byteOffset, body.length)
        : Buffer.from(JSON.stringify(body));
    const places = this.#inTurn();
    for (const [i, place] of places.entries()) {
      const isLast = i === places.length - 1;
      try {
        const answer = await this.#ask(place, bytes, signal, isLast);
        this.#silent.delete(keyOf(place));
        return readAnswer(this.shown, answer, 'json');
      } catch (err) {
        if (!(err instanceof RemoteError) || !TRIED_PAST.has(err.failure)) throw err;
        this.#remember(place);
        if (isLast) throw err;
      }
    }
    throw new RemoteError(`${this.shown}: there is no server`);
  }

  /** Its connections belong to the pools. */
  close(): void {
    this.#silent.clear();
  }

  /** Servers in the order in which they are tried: those that were silent last time at the end. */
  #inTurn(): readonly Place[] {
    const places = this.#placesNow();
    if (places.length < 2) return places;
    const first = this.#asked++ % places.length;
    const turned = [...places.slice(first), ...places.slice(0, first)];
    const isSilent = (place: Place): boolean => this.#silent.has(keyOf(place));
    return [...turned.filter((it) => !isSilent(it)), ...turned.filter(isSilent)].slice(0, MAX_TRIED);
  }

  #placesNow(): readonly Place[] {
    try {
      return this.#target.places();
    } catch (err) {
      throw new RemoteError(`${this.shown}: ${err instanceof Error ? err.message : ''}`, { cause: err });
    }
  }

  #remember(place: Place): void {
    if (this.#silent.size >= MAX_SILENT) this.#silent.clear();
    this.#silent.add(keyOf(place));
  }

  async #ask({ host, port }: Place, body: Buffer, signal: AbortSignal, isLast: boolean): Promise<Exchanged> {
    const { address, trust, url: target } = this.#target;
    const { id, credentials } = await this.#d.users.of(address);
    const credential = await unlessAborted(credentials.current(signal), signal).catch((err: unknown) => {
      throw err instanceof CredentialError ? this.#error('credentials', err.message, err) : err;
    });
    const headers: OutgoingHttpHeaders = {
      host: target.host,
      accept: 'application/json, */*',
      'content-type': 'application/json',
      'user-agent': this.#d.userAgent,
      ...credential.headers,
    };
    const url = new URL(`https://${bracketed(host)}:${port}${target.pathname}${this.#query}`);
    const connections = this.#d.pools.connections(trust, id, credential);
    const limits = { what: this.shown, maxBytes: MAX_ANSWER_BYTES, ...(isLast ? {} : { connectMs: CONNECT_MS }) };
    return exchange({ method: 'POST', url, headers, body, ...connections, ...limits }, signal);
  }

  #error(failure: RemoteFailure, why: string, cause: unknown): RemoteError {
    return new RemoteError(`${this.shown}: ${why}`, { failure, cause });
  }
}

const keyOf = ({ host, port }: Place): string => `${host} ${port}`;

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/** With the port, as it is always told of services. */
const shownUrl = ({ url, address }: Target): string =>
  url.port === '' && url.hostname.endsWith('.svc') ? `https://${address}${url.pathname}` : url.href;

function targetOf(
  { url = '', service, caBundle }: WebhookClientConfig,
  objects: WebhookServiceDeps['objects'],
): Target {
  const authorities = authoritiesOf(caBundle);
  if (service === undefined) {
    const target = new URL(url);
    target.pathname = cleaned(target.pathname);
    const place = { host: target.hostname, port: target.port === '' ? HTTPS : Number(target.port) };
    return {
      url: target,
      address: `${target.hostname}:${place.port}`,
      trust: { authorities, serverName: undefined, insecure: false },
      places: () => [place],
    };
  }
  const { namespace = '', name = '', port = HTTPS, path = '/' } = service;
  const serverName = `${name}.${namespace}.svc`;
  return {
    url: new URL(`https://${serverName}:${port}${cleaned(path)}`),
    address: `${serverName}:${port}`,
    trust: { authorities, serverName, insecure: false },
    places: () => placesOf(objects, namespace, name, port),
  };
}

/** As other servers ask for it: test harnesses put a slash before a path that has one. */
const cleaned = (path: string): string => `/${path.split('/').filter(Boolean).join('/')}`;

/** @throws {ClientConfigError} */
function authoritiesOf(bundle: string | null | undefined): string | undefined {
  if (bundle === undefined || bundle === null || bundle === '') return machineAuthorities();
  const pem = Buffer.from(bundle, 'base64').toString('utf8');
  checkCertificates(pem, 'caBundle');
  return pem;
}
