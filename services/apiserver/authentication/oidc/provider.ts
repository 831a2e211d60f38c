import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Agent } from 'node:https';
import { deadline } from '../../../client/deadline/deadline.js';
import { machineAuthorities } from '../../../client/kubeconfig/machine-authorities.js';
import { agentFor } from '../../../client/remote/agents.js';
import { exchange } from '../../../client/remote/exchange.js';
import { parseJson } from '../../../machinery/codec/json.js';
import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';
import { isHttps } from '../service-accounts/issuer-documents.js';
import { readKeySet, type ReadKeys } from './key-set.js';

export interface ProviderOptions {
  /** An https URL, as tokens say it. */
  readonly issuer: string;
  /** Of the authorities of its certificate; '' for those of the machine. Read again with each question. */
  readonly caFile: string;
  /** Algorithms that tokens may be signed with. */
  readonly algorithms: ReadonlySet<string>;
  readonly userAgent: string;
  /** Longest that reading its keys may take. @default 10 000 */
  readonly timeoutMs?: number;
}

export interface FetchedKeys extends ReadKeys {
  /** How long the provider says that they may be kept; undefined when it says nothing. */
  readonly maxAgeMs: number | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 512 * 1024;
const MAX_DEPTH = 32;
/** The provider may move its keys. */
const DISCOVER_EVERY_MS = 24 * 60 * 60_000;

/** A provider of OpenID Connect, as far as its keys go (OpenID Connect Discovery 1.0). */
export class OpenIdProvider {
  readonly #o: ProviderOptions;
  #place: { readonly url: URL; readonly untilMs: number } | undefined;
  #trusted: { readonly authorities: string | undefined; readonly agent: Agent } | undefined;

  constructor(o: ProviderOptions) {
    this.#o = o;
  }

  /**
   * Reads its keys, and where they are when that is not known. No redirect is followed.
   *
   * @throws {Error} In one line that names the URL. @throws `signal.reason` if it fires first.
   */
  async fetchKeys(signal: AbortSignal): Promise<FetchedKeys> {
    const { timeoutMs = TIMEOUT_MS, issuer, algorithms } = this.#o;
    const limit = deadline(timeoutMs, signal, () => new Error(`${issuer}: no keys within ${timeoutMs} ms`));
    try {
      const agent = this.#agent();
      const place = await this.#discovered(agent, limit.signal);
      const { document, headers } = await this.#get(place, agent, limit.signal);
      return { ...told(place, () => readKeySet(document, algorithms)), maxAgeMs: maxAgeMs(headers) };
    } catch (err) {
      this.#place = undefined; // it may be out of date
      throw err;
    } finally {
      limit.end();
    }
  }

  close(): void {
    this.#trusted?.agent.destroy();
  }

  async #discovered(agent: Agent, signal: AbortSignal): Promise<URL> {
    if (this.#place !== undefined && performance.now() < this.#place.untilMs) return this.#place.url;
    const url = new URL(`${this.#o.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { document } = await this.#get(url, agent, signal);
    const keys = told(url, () => keysUrl(document, this.#o.issuer));
    this.#place = { url: keys, untilMs: performance.now() + DISCOVER_EVERY_MS };
    return keys;
  }

  async #get(
    url: URL,
    agent: Agent,
    signal: AbortSignal,
  ): Promise<{ readonly document: unknown; readonly headers: IncomingHttpHeaders }> {
    const headers = { accept: 'application/json', 'user-agent': this.#o.userAgent };
    const answer = await exchange({ method: 'GET', url, headers, agent, maxBytes: MAX_ANSWER_BYTES }, signal);
    const document = told(url, () => {
      if (answer.status !== 200) throw new Error(`answered with the status ${answer.status}`);
      return json(answer.body);
    });
    return { document, headers: answer.headers };
  }

  /** Made anew when the authorities have changed. */
  #agent(): Agent {
    const { caFile } = this.#o;
    const authorities = caFile === '' ? machineAuthorities() : readFileSync(caFile, 'utf8');
    if (this.#trusted === undefined || this.#trusted.authorities !== authorities) {
      this.#trusted?.agent.destroy();
      const agent = agentFor({ authorities, serverName: undefined, insecure: false }, {});
      this.#trusted = { authorities, agent };
    }
    return this.#trusted.agent;
  }
}

/** @throws {Error} */
function keysUrl(document: unknown, issuer: string): URL {
  const of = (name: string): unknown => (isJsonObject(document) ? getOwn(document, name) : undefined);
  if (of('issuer') !== issuer) throw new Error('is of another issuer than the one that is trusted');
  const url = of('jwks_uri');
  if (typeof url !== 'string' || !isHttps(url)) throw new Error('jwks_uri is no https URL');
  return new URL(url);
}

function json(body: Buffer): unknown {
  try {
    return parseJson(body, { maxBytes: body.length, maxDepth: MAX_DEPTH, maxYamlBytes: 0 });
  } catch {
    throw new Error('the answer is no JSON that can be read'); // the parser's words quote the answer
  }
}

/** Names the place in what went wrong there. */
function told<T>(url: URL, read: () => T): T {
  try {
    return read();
  } catch (err) {
    throw new Error(`${url.origin}${url.pathname}: ${(err as Error).message}`, { cause: err });
  }
}

/** How long an answer may be kept (RFC 9111, 5.2.2). */
function maxAgeMs(headers: IncomingHttpHeaders): number | undefined {
  const control = headers['cache-control'] ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return 0;
  const [, seconds] = /\bmax-age="?(\d{1,9})\b/i.exec(control) ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
