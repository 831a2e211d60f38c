/** What was stored, made readable. */
export interface PlainValue {
  readonly value: Buffer;
  /** It was written by another provider or key than the one that writes now: the next write of it is due. */
  readonly stale: boolean;
}

/** Between the bytes of objects and the bytes that the store holds of them. Keys are the store's. */
export interface ValueTransformer {
  /** Whether stored bytes are the value itself, in the form that it would be written in. Asked first: most are. */
  asIs(stored: Buffer): boolean;
  /** @throws {StoreError} `encryption`, when there is no key to write with */
  toStore(key: string, plain: Buffer): Buffer | Promise<Buffer>;
  /** @throws {UnreadableValue} */
  fromStore(key: string, stored: Buffer): PlainValue | Promise<PlainValue>;
}

/** A stored value cannot be decrypted. The message holds nothing of the value and nothing of a key. */
export class UnreadableValue extends Error {
  override readonly name = 'UnreadableValue';
}

/** One key of one provider. */
export interface Cipher {
  /** `key` is authenticated along with the value, where the provider does so. */
  seal(key: string, plain: Buffer): Buffer | Promise<Buffer>;
  /** @throws {UnreadableValue} when the value was made by another key, for another place, or is damaged */
  open(key: string, sealed: Buffer): Buffer | PlainValue | Promise<PlainValue>;
}

/** A cipher and what its values begin with. */
export interface Provider {
  /** e.g. `k8s:enc:aescbc:v1:key1:`; '' for values that are stored as they are. */
  readonly prefix: string;
  readonly cipher: Cipher;
}

/** Is told how each transformation ended. */
export type ObserveTransformation = (done: {
  readonly direction: 'from_storage' | 'to_storage';
  /** '' where none fits, or for values that are stored as they are. */
  readonly prefix: string;
  readonly seconds: number;
  readonly ok: boolean;
}) => void;

/** Values are stored as they are. */
export const IDENTITY: Provider = {
  prefix: '',
  cipher: { seal: (_, plain) => plain, open: (_, stored) => stored },
};

interface Entry extends Provider {
  readonly head: Buffer;
  readonly isFirst: boolean;
}

const beginsWith = (value: Buffer, head: Buffer): boolean =>
  value[0] === head[0] && value.length >= head.length && head.equals(value.subarray(0, head.length));

/**
 * Writes with the first of `providers` and reads with the one that a value names.
 *
 * @param word The beginning of every encrypted value, e.g. `k8s:enc:`.
 */
export function providerChain(
  word: string,
  providers: readonly Provider[],
  observe: ObserveTransformation = () => undefined,
): ValueTransformer {
  const encrypted = Buffer.from(word);
  const entries = providers.map((p, i): Entry => ({ ...p, head: Buffer.from(p.prefix), isFirst: i === 0 }));
  const [first = { ...IDENTITY, head: Buffer.alloc(0), isFirst: true }] = entries;
  const plainEntry = entries.find(({ prefix }) => prefix === '');
  const timed = timer(observe);
  return {
    asIs: (stored) => first.prefix === '' && !beginsWith(stored, encrypted),
    toStore: (key, plain) =>
      first.prefix === ''
        ? plain
        : timed('to_storage', first.prefix, () => {
            const sealed = first.cipher.seal(key, plain);
            if (sealed instanceof Promise) return sealed.then((bytes) => Buffer.concat([first.head, bytes]));
            return Buffer.concat([first.head, sealed]);
          }),
    fromStore: (key, stored) => {
      if (!beginsWith(stored, encrypted) && plainEntry !== undefined) return judged(stored, plainEntry);
      const fitting = entries.filter(({ prefix, head }) => prefix !== '' && beginsWith(stored, head));
      return timed('from_storage', fitting[0]?.prefix ?? '', () => open(key, stored, fitting));
    },
  };
}

/** Names of keys may be there twice: the next one is tried where one fails. */
function open(key: string, stored: Buffer, candidates: readonly Entry[]): PlainValue | Promise<PlainValue> {
  const [entry, ...others] = candidates;
  if (entry === undefined) throw new UnreadableValue('no matching prefix found');
  const next = (err: unknown): PlainValue | Promise<PlainValue> => {
    if (others.length === 0) throw err;
    return open(key, stored, others);
  };
  try {
    const opened = entry.cipher.open(key, stored.subarray(entry.head.length));
    return opened instanceof Promise ? opened.then((p) => judged(p, entry), next) : judged(opened, entry);
  } catch (err) {
    return next(err);
  }
}

const judged = (opened: Buffer | PlainValue, { isFirst }: Entry): PlainValue =>
  Buffer.isBuffer(opened)
    ? { value: opened, stale: !isFirst }
    : { value: opened.value, stale: opened.stale || !isFirst };

function timer(observe: ObserveTransformation) {
  return <T>(direction: 'from_storage' | 'to_storage', prefix: string, work: () => T | Promise<T>): T | Promise<T> => {
    const startedMs = performance.now();
    const end = (ok: boolean): void =>
      observe({ direction, prefix, ok, seconds: (performance.now() - startedMs) / 1000 });
    try {
      const done = work();
      if (!(done instanceof Promise)) end(true);
      else
        void done.then(
          () => end(true),
          () => end(false),
        );
      return done;
    } catch (err) {
      end(false);
      throw err;
    }
  };
}

/** Of resources that no rule names: values are stored as they are, and encrypted ones cannot be read. */
export function plainOnly(word: string): ValueTransformer {
  const encrypted = Buffer.from(word);
  return {
    asIs: (stored) => !beginsWith(stored, encrypted),
    toStore: (_, plain) => plain,
    fromStore: () => {
      throw new UnreadableValue('the value is encrypted, and no provider is given');
    },
  };
}
