import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { UNOBSERVED } from '../../../machinery/breaker/breaker.js';
import type { GuardOptions, Outcome } from '../../../client/remote/guarded.js';
import type { KeyPair, TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson, startTlsService, type TlsService } from '../../../client/testing/tls-service.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { openReviewService } from '../open-review-service.js';
import type { ReviewService } from '../review-service.js';

export interface Logged {
  readonly message: string;
  readonly keys: Readonly<Record<string, unknown>>;
}

/** A review as it was sent. */
export interface Sent {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface HookOptions {
  readonly kind: string;
  readonly apiVersion: string;
  readonly guard?: Partial<GuardOptions> & { readonly timeoutMs?: number };
}

/** Quick, and never left alone unless that is what a test is about. */
const GUARD = { attempts: 2, pauseMs: 1, timeoutMs: 5_000, breaker: { volume: 1_000 } };

/** Making one takes longer than most tests. */
const pairs = new WeakMap<TestAuthority, KeyPair>();

/** A real webhook over TLS, with a client configuration that leads to it. */
export class Hook {
  readonly authority: TestAuthority;
  readonly service: TlsService;
  readonly logged: Logged[] = [];
  readonly tried: string[] = [];
  readonly outcomes: Outcome[] = [];
  #stopping = new AbortController();
  #files = 0;

  private constructor(authority: TestAuthority, service: TlsService) {
    this.authority = authority;
    this.service = service;
  }

  static async start(authority: TestAuthority): Promise<Hook> {
    let pair = pairs.get(authority);
    if (pair === undefined) pairs.set(authority, (pair = authority.issue('hook')));
    return new Hook(authority, await startTlsService(pair, (_, res) => void res.destroy()));
  }

  get sent(): Sent[] {
    return this.service.received.map(({ body }) => JSON.parse(body) as Sent);
  }

  /** Its answers have this status, in reviews as they were sent. */
  says(status: unknown): void {
    this.answers(({ kind, apiVersion }) => ({ kind, apiVersion, status }));
  }

  answers(body: (sent: Sent) => unknown): void {
    this.service.answer = ({ body: text }, res): void => answerJson(res, body(JSON.parse(text) as Sent));
  }

  /** @param authority PEM of whom the client trusts. */
  configFile(authority = this.authority.cert): string {
    const file = join(this.authority.directory, `config-${++this.#files}-${this.service.port}`);
    const cluster = {
      server: `${this.service.url}/review`,
      'certificate-authority-data': Buffer.from(authority).toString('base64'),
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'hook', cluster }],
      users: [{ name: 'server', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'hook', user: 'server' } }],
      'current-context': 'x',
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  open({ guard, ...o }: HookOptions, file = this.configFile()): ReviewService {
    return openReviewService({
      ...o,
      file,
      name: 'the hook',
      vocabulary: vocabulary('platform'),
      log: { warn: (message, keys = {}) => void this.logged.push({ message, keys: { ...keys } }) },
      metrics: {
        tried: (code) => void this.tried.push(code),
        asked: (outcome) => void this.outcomes.push(outcome),
        breaker: UNOBSERVED,
      },
      signal: this.#stopping.signal,
      guard: { ...GUARD, ...guard },
    });
  }

  async close(): Promise<void> {
    this.#stopping.abort(new Error('The test is over'));
    await this.service.close();
  }
}

export type Answering = (res: ServerResponse, sent: Sent, status: object) => void;

const review =
  (change: (review: object, status: object) => unknown): Answering =>
  (res, { kind, apiVersion }, status) =>
    answerJson(res, change({ kind, apiVersion, status }, status));

const withCode =
  (code: number, headers: Readonly<Record<string, string>> = {}): Answering =>
  (res, { kind, apiVersion }, status) =>
    void res
      .writeHead(code, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ kind, apiVersion, status }));

/** Whatever it likes. */
const freely = (answer: Answering): Answering => answer;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Answers that count for nothing, however good the status in them is. */
export const UNUSABLE: readonly (readonly [what: string, answer: Answering, message: RegExp])[] = [
  ['of another kind', review((it) => ({ ...it, kind: 'Status' })), /kind of the answer is not /],
  ['of a kind that is no text', review((it) => ({ ...it, kind: ['x'] })), /kind of the answer is no text/],
  [
    'of another version',
    review((it) => ({ ...it, apiVersion: `${vocabulary('platform').groups.authentication}/v2` })),
    /apiVersion of the answer is not /,
  ],
  ['of another group', review((it) => ({ ...it, apiVersion: 'v1' })), /apiVersion of the answer is not /],
  ['without a status', review((it) => ({ ...it, status: undefined })), /the answer has no status/],
  ['with an empty status', review((it) => ({ ...it, status: null })), /the answer has no status/],
  ['whose status is a text', review((it) => ({ ...it, status: 'ok' })), /status of the answer is no object/],
  [
    'whose status is a list',
    review((it, status) => ({ ...it, status: [status] })),
    /status of the answer is no object/,
  ],
  ['that is a list', review((it) => [it]), /the answer is no object/],
  ['that is the status alone', review((_, status) => status), /the answer has no status/],
  [
    'with a status in its prototype',
    freely((res, { kind, apiVersion }, status) => {
      const text = `{"kind":"${kind}","apiVersion":"${apiVersion}","__proto__":{"status":${JSON.stringify(status)}}}`;
      res.writeHead(200, JSON_TYPE).end(text);
    }),
    /the answer has no status/,
  ],
  ['with the code 500', withCode(500), /answered with the status 500/],
  ['with the code 503', withCode(503), /answered with the status 503/],
  ['with the code 401', withCode(401), /answered with the status 401/],
  ['with the code 403', withCode(403), /answered with the status 403/],
  ['with the code 404', withCode(404), /answered with the status 404/],
  ['with the code 429', withCode(429), /answered with the status 429/],
  ['with the code 302', withCode(302, { location: '/elsewhere' }), /redirect/],
  ['with the code 304', withCode(304), /redirect/],
  ['that is no JSON', freely((res) => void res.writeHead(200, JSON_TYPE).end('{"kind":')), /no JSON/],
  [
    'that is a page',
    freely((res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('ok')),
    /no JSON that can be read/,
  ],
  ['that is empty', freely((res) => void res.writeHead(204).end()), /no JSON that can be read/],
  ['that is huge', review((it) => ({ ...it, more: 'x'.repeat(1024 * 1024) })), /longer than/],
  ['that is deep', freely((res) => void res.writeHead(200, JSON_TYPE).end('['.repeat(10_000))), /no JSON/],
  ['that does not come', freely((res) => void res.destroy()), /the connection was cut/],
  [
    'that ends early',
    freely((res) => {
      res.writeHead(200, { ...JSON_TYPE, 'content-length': 100 }).write('{');
      setImmediate(() => res.destroy());
    }),
    /the connection was cut/,
  ],
];
