/** Work in parts: where it yields, its caller may do something else before it goes on. */
export type Work<T> = Generator<void, T, void>;

/** Does all parts at once. @throws what the work throws */
export function done<T>(work: Work<T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
