import { Worker } from 'node:worker_threads';
import type { Json } from '../meta/object.js';
import { StatusError, type Reason } from '../meta/status.js';

/** One text to parse. */
export interface YamlQuestion {
  readonly text: string;
  readonly maxDepth: number;
  /** Longest JSON that may come of it, in characters: aliases repeat what they stand for. */
  readonly maxBytes: number;
  /** Absent: keys that are there twice are refused. */
  readonly wantsDuplicates: boolean;
}

export type YamlAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly reason: Reason; readonly message: string };

interface Pending {
  readonly question: YamlQuestion;
  readonly settle: (answer: YamlAnswer) => void;
}

/** Most characters that wait for the thread; who comes later is asked to come again. */
const MOST_WAITING = 16 * 1024 * 1024;
/** A text of the longest that is taken needs a twentieth of this on a busy machine. */
const ANSWER_WITHIN_MS = 10_000;
/** The thread has some 20 MB, and few clients send YAML. */
const REST_AFTER_MS = 30_000;
const MOST_HEAP_MB = 256;

/**
 * A thread of its own for texts in YAML: they take a microsecond and more a character, in which no other request would
 * be answered. Started by the first of them, and ended when none has come for half a minute.
 */
export class YamlThread {
  readonly #start: () => Worker;
  readonly #withinMs: number;
  #worker: Worker | undefined;
  readonly #pending: Pending[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(start: () => Worker = startWorker, withinMs = ANSWER_WITHIN_MS) {
    this.#start = start;
    this.#withinMs = withinMs;
  }

  /**
   * @param duplicates Gets the paths of duplicate keys; without it they are refused.
   * @throws {StatusError} As `parseYamlText`; TooManyRequests when too much waits already; Timeout;
   * RequestEntityTooLarge when more comes of it than `maxBytes`
   */
  async parse(text: string, maxDepth: number, maxBytes: number, duplicates?: string[]): Promise<Json> {
    const question = { text, maxDepth, maxBytes, wantsDuplicates: duplicates !== undefined };
    const answer = await this.#ask(question);
    if ('reason' in answer) throw new StatusError(answer.reason, answer.message);
    duplicates?.push(...answer.duplicates);
    return JSON.parse(answer.json) as Json;
  }

  #ask(question: YamlQuestion): Promise<YamlAnswer> {
    if (this.#waiting + question.text.length > MOST_WAITING) throw tooMany();
    this.#waiting += question.text.length;
    return new Promise((settle) => {
      this.#pending.push({ question, settle });
      if (this.#pending.length === 1) this.#sendFirst();
    });
  }

  /** One at a time, so that the time that a text takes is its own. */
  #sendFirst(): void {
    clearTimeout(this.#timer);
    const first = this.#pending[0];
    if (first === undefined) {
      this.#worker?.unref();
      this.#timer = setTimeout(() => this.#stop(), REST_AFTER_MS).unref();
      return;
    }
    this.#worker ??= this.#started();
    this.#worker.ref();
    this.#worker.postMessage(first.question);
    this.#timer = setTimeout(
      () => this.#fail('Timeout', 'The request body could not be parsed in time'),
      this.#withinMs,
    );
  }

  #started(): Worker {
    const worker = this.#start();
    worker.on('message', (answer: YamlAnswer) => this.#settleFirst(answer));
    const onEnd = (): void => {
      if (worker === this.#worker) this.#fail('InternalError', 'Internal error occurred');
    };
    return worker.on('error', onEnd).on('exit', onEnd);
  }

  #settleFirst(answer: YamlAnswer): void {
    const first = this.#pending.shift();
    if (first === undefined) return;
    this.#waiting -= first.question.text.length;
    first.settle(answer);
    this.#sendFirst();
  }

  /** Fails the text under way; the others go to a new thread. */
  #fail(reason: Reason, message: string): void {
    this.#stop();
    this.#settleFirst({ reason, message });
  }

  #stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}

const tooMany = (): StatusError =>
  new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
    details: { retryAfterSeconds: 1 },
  });

const startWorker = (): Worker =>
  new Worker(new URL('./yaml-worker.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
