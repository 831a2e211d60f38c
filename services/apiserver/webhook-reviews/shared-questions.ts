import { unlessAborted } from '../../client/deadline/deadline.js';
import type { Asker } from '../http/turns.js';
import { ReviewError } from './review-error.js';

/** Most questions under way at once: each holds its text, and waits for seconds when the service is slow. */
const MAX_UNDER_WAY = 4_096;

interface Question<V> {
  readonly answer: Promise<V>;
  readonly ends: AbortController;
  waiting: number;
}

/**
 * Questions to a service, each asked once at a time: the same question from another request waits for the same answer.
 * A request that leaves does not end the question for others; the last one to leave does.
 */
export class SharedQuestions<V> {
  readonly #underWay = new Map<string, Question<V>>();
  readonly #max: number;

  constructor(max = MAX_UNDER_WAY) {
    this.#max = max;
  }

  /**
   * @param key The question: equal keys share an answer.
   * @param ask Bounded in time by itself. Its signal fires when the answer is not waited for any more.
   * @param asker Absent: the answer is waited for to the end.
   * @throws {ReviewError} When 4,096 questions are under way. @throws What `ask` throws.
   * @throws `asker.signal.reason` when the asker leaves
   */
  async ask(key: string, ask: (signal: AbortSignal) => Promise<V>, asker?: Asker): Promise<V> {
    const question = this.#underWay.get(key) ?? this.#begin(key, ask);
    question.waiting++;
    if (asker === undefined) return question.answer;
    try {
      return await unlessAborted(question.answer, asker.signal);
    } finally {
      if (--question.waiting === 0) this.#end(key, question, asker.signal.reason);
    }
  }

  #begin(key: string, ask: (signal: AbortSignal) => Promise<V>): Question<V> {
    if (this.#underWay.size >= this.#max) throw new ReviewError('too many questions are under way');
    const ends = new AbortController();
    const question: Question<V> = { answer: ask(ends.signal), ends, waiting: 0 };
    const forget = (): void => this.#forget(key, question);
    question.answer.then(forget, forget);
    this.#underWay.set(key, question);
    return question;
  }

  /** Questions from here on are asked anew. */
  #end(key: string, question: Question<V>, reason: unknown): void {
    if (this.#underWay.get(key) !== question) return; // it has its answer
    this.#forget(key, question);
    question.ends.abort(reason);
  }

  #forget(key: string, question: Question<V>): void {
    if (this.#underWay.get(key) === question) this.#underWay.delete(key);
  }
}
