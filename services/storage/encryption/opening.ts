import type { KeyValue } from '../store.js';
import { UnreadableValue, type PlainValue, type ValueTransformer } from './transformer.js';

/** The transformer of the values of a key; undefined where nothing is to be done with them. */
export type TransformerOf = (key: string) => ValueTransformer | undefined;

/** At once where no item has to wait; the same list where no item changes. */
export function inParallel<T>(
  items: readonly T[],
  act: (item: T) => T | Promise<T>,
): readonly T[] | Promise<readonly T[]> {
  let next: (T | Promise<T>)[] | undefined;
  let waits = false;
  for (const [i, item] of items.entries()) {
    const made = act(item);
    if (made === item) continue;
    (next ??= [...items])[i] = made;
    waits ||= made instanceof Promise;
  }
  if (next === undefined) return items;
  return waits ? Promise.all(next) : (next as T[]); // none of them is a promise
}

/** What a value is in clear, or why it cannot be told. */
export type Opened = Pick<KeyValue, 'value' | 'stale' | 'unreadable'>;

const NOTHING = Buffer.alloc(0);

/** Of a value that is stored as it is, the same bytes. */
export function openValue(transformer: ValueTransformer, key: string, stored: Buffer): Opened | Promise<Opened> {
  if (transformer.asIs(stored)) return { value: stored };
  try {
    const plain = transformer.fromStore(key, stored);
    return plain instanceof Promise ? plain.then(readable, unreadable) : readable(plain);
  } catch (err) {
    return unreadable(err);
  }
}

const readable = ({ value, stale }: PlainValue): Opened => (stale ? { value, stale } : { value });

function unreadable(err: unknown): Opened {
  if (err instanceof UnreadableValue) return { value: NOTHING, unreadable: err };
  throw err;
}
