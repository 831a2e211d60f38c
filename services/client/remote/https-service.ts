import type { OutgoingHttpHeaders } from 'node:http';
import type { Credential } from '../credentials/credential.js';
import { CredentialError } from '../credentials/credential.js';
import { ClientConfigError } from '../kubeconfig/member.js';
import type { Connection } from '../kubeconfig/connection.js';
import { Agents } from './agents.js';
import { readAnswer } from './answer.js';
import type { Deadline } from '../deadline/deadline.js';
import { deadline, unlessAborted } from '../deadline/deadline.js';
import type { Exchanged } from './exchange.js';
import { exchange, shown } from './exchange.js';
import type { RemoteAnswer, RemoteService } from './remote-service.js';
import { RemoteError } from './remote-service.js';

const MAX_ANSWER_BYTES = 1024 * 1024;
const UNAUTHORIZED = 401;

export interface HttpsServiceOptions {
  /** Longest time of one question, with all that belongs to it. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** 'status': what the service answers with does not matter. @default 'json' */
  readonly wants?: 'json' | 'status';
}

/** A service behind an https URL, asked with POST. */
export class HttpsService implements RemoteService {
  readonly #connection: Connection;
  readonly #o: HttpsServiceOptions;
  readonly #agents: Agents;
  readonly #asked = new Set<Deadline>();
  readonly #what: string;
  #isClosed = false;

  /** @param connection To an https server. Its credentials are closed with the service. */
  constructor(connection: Connection, o: HttpsServiceOptions) {
    this.#connection = connection;
    this.#o = o;
    this.#agents = new Agents(connection.tls);
    this.#what = shown({ method: 'POST', url: connection.server });
  }

  async post(body: object, signal: AbortSignal): Promise<RemoteAnswer> {
    if (this.#isClosed) throw this.#error('connection', 'the service is closed');
    const bytes = Buffer.from(JSON.stringify(body));
    const { timeoutMs } = this.#o;
    const limit = deadline(timeoutMs, signal, () => this.#error('timeout', `no answer within ${timeoutMs} ms`));
    this.#asked.add(limit);
    try {
      return readAnswer(this.#what, await this.#ask(bytes, limit.signal), this.#o.wants ?? 'json');
    } finally {
      limit.end();
      this.#asked.delete(limit);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const limit of this.#asked) limit.fire(this.#error('connection', 'the service is closed'));
    this.#connection.credentials.close();
    this.#agents.close();
  }

  /** A second time with another credential, when the first one is not known to the service. */
  async #ask(body: Buffer, signal: AbortSignal): Promise<Exchanged> {
    const first = await this.#credential(signal);
    const answer = await this.#send(body, first, signal);
    if (answer.status !== UNAUTHORIZED || !this.#connection.credentials.refused(first)) return answer;
    return await this.#send(body, await this.#credential(signal), signal);
  }

  async #credential(signal: AbortSignal): Promise<Credential> {
    try {
      return await unlessAborted(this.#connection.credentials.current(signal), signal);
    } catch (err) {
      const isOurs = err instanceof CredentialError || err instanceof ClientConfigError;
      throw isOurs ? this.#error('credentials', err.message, err) : err;
    }
  }

  #send(body: Buffer, credential: Credential, signal: AbortSignal): Promise<Exchanged> {
    const headers: OutgoingHttpHeaders = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': this.#o.userAgent,
      ...(this.#connection.impersonation as OutgoingHttpHeaders),
      ...credential.headers,
    };
    const { server: url } = this.#connection;
    const { agent } = this.#agents.for(credential);
    return exchange({ method: 'POST', url, headers, body, agent, maxBytes: MAX_ANSWER_BYTES }, signal);
  }

  #error(failure: 'connection' | 'timeout' | 'credentials', why: string, cause?: unknown): RemoteError {
    return new RemoteError(`${this.#what}: ${why}`, { failure, cause });
  }
}
