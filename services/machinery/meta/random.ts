import { randomFillSync, randomUUID } from 'node:crypto';

/** No vowels and nothing that looks like one, so that no words come out. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const MAX_BASE = 63 - SUFFIX_LENGTH;
/** The largest multiple of the alphabet in a byte: bytes from here on would make some letters likelier. */
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** Random bytes are fetched many at once: one fetch costs more than the letters it is for. */
const pool = Buffer.alloc(512);
let used = pool.length;

function randomLetter(): string {
  for (;;) {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used++] ?? FAIR_BYTES;
    if (byte < FAIR_BYTES) return LETTERS.charAt(byte % LETTERS.length);
  }
}

/** `base`, cut to 58 characters, and five random letters: 14 million names, so the caller tries again when one is taken. */
export function generateName(base: string): string {
  let name = base.slice(0, MAX_BASE);
  for (let i = 0; i < SUFFIX_LENGTH; i++) name += randomLetter();
  return name;
}

/** A UID for a new object: never given twice, whichever replica gives it. */
export const newUid = (): string => randomUUID();
