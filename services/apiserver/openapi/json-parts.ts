import type { Work } from '../../machinery/work/work.js';

/** Members as deep as this are parts of the work: `components.schemas.<name>` is the deepest. */
const PARTS_DEPTH = 2;

/** A document as `JSON.stringify` writes it, in UTF-8. A path or a model is a part of the work. */
export function* jsonInParts(document: object): Work<Buffer> {
  const pieces: Buffer[] = [];
  yield* write(document, PARTS_DEPTH, (text) => pieces.push(Buffer.from(text)));
  return Buffer.concat(pieces);
}

function* write(value: object, depth: number, put: (text: string) => void): Work<void> {
  let before = '{';
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (member === undefined) continue;
    const start = `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (depth > 0 && typeof member === 'object' && member !== null && !Array.isArray(member)) {
      put(start);
      yield* write(member, depth - 1, put);
    } else {
      put(start + JSON.stringify(member));
      yield;
    }
  }
  put(before === '{' ? '{}' : '}');
}
