import { ReviewError } from './review-error.js';

/** Questions under way at once; each holds what it asks, and waits for seconds when the service is slow. */
const MAX_UNDER_WAY = 4_096;

/** Whoever asks what is just being asked gets the same answer. That somebody no longer waits ends it for nobody. */
export class SharedQuestions<V> {
  readonly #underWay = new Map<string, Promise<V>>();
  readonly #max: number;

  constructor(max = MAX_UNDER_WAY) {
    this.#max = max;
  }

  /**
   * @param key Stands for all that is asked.
   * @param ask Bounded in time by itself.
   * @throws {ReviewError} When too much is being asked. @throws What `ask` throws.
   */
  ask(key: string, ask: () => Promise<V>): Promise<V> {
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    if (this.#underWay.size >= this.#max) return Promise.reject(new ReviewError('too many questions are under way'));
    const answer = ask().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, answer);
    return answer;
  }
}
