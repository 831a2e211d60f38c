import { createHash } from 'node:crypto';

/** Stands for parts of a question without holding them, e.g. a token. Other parts have another one. */
export const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');
