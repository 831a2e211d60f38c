import type { KeyValue } from './store.js';

/** Wanted size of a page, in bytes of values. A wire of 1 MB/s brings it within a few seconds. */
const PAGE_BYTES = 4 << 20;
/** Nothing is known of the entries yet. */
const FIRST_ENTRIES = 100;
/** Small entries may be followed by large ones: a page is never more than so much larger than the one before. */
const GROWTH = 4;

/** How many entries to ask for, so that a page has about 4 MB: learned from the page before. */
export class PageSize {
  readonly #most: number;
  #entries: number;

  /** @param most Entries in a page, however small they are. */
  constructor(most: number) {
    this.#most = most;
    this.#entries = Math.min(FIRST_ENTRIES, most);
  }

  get entries(): number {
    return this.#entries;
  }

  /** To be told of each page as it came. */
  learn(kvs: readonly KeyValue[]): void {
    if (kvs.length === 0) return;
    let bytes = 0;
    for (const { value } of kvs) bytes += value.length;
    const fitting = Math.floor((PAGE_BYTES * kvs.length) / Math.max(bytes, 1));
    this.#entries = Math.max(1, Math.min(fitting, this.#entries * GROWTH, this.#most));
  }
}
