/**
 * Does the same with each of many, some at once, in their order.
 *
 * @param most How many at once. @throws The first failure; what has not begun by then does not begin.
 */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      try {
        await work(items[next++] as T);
      } catch (err) {
        hasFailed = true;
        throw err;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
}
