/** Most objects in one question. */
export const BATCH_OBJECTS = 250;
/** Most bytes of objects in one question; one object alone may have more. Answers may be some times as long. */
export const BATCH_BYTES = 1.5 * 1024 * 1024;

/** Cuts a list into pieces that one question is asked about, each in the order of the list. */
export function batches<T extends { readonly bytes: Buffer }>(objects: readonly T[]): T[][] {
  const all: T[][] = [];
  let batch: T[] = [];
  let bytes = 0;
  for (const object of objects) {
    const { length } = object.bytes;
    if (batch.length > 0 && (batch.length === BATCH_OBJECTS || bytes + length > BATCH_BYTES)) {
      all.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(object);
    bytes += length;
  }
  if (batch.length > 0) all.push(batch);
  return all;
}
