/** A block of a PEM file: what it says it is, and what it holds. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '\n-----END ';
const DASHES = '-----';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The blocks of a PEM file; what is between them, and blocks that are broken, say nothing. Linear in the text. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let end = -1;
  for (let begin = text.indexOf(BEGIN); begin >= 0;) {
    const lineEnd = text.indexOf('\n', begin);
    if (lineEnd < 0) break;
    // The same end is looked at from many beginnings, but looked for once.
    if (end < lineEnd) end = text.indexOf(END, lineEnd);
    if (end < 0) break;
    const block = blockAt(text, begin, lineEnd, end);
    if (block !== undefined) blocks.push(block);
    begin = text.indexOf(BEGIN, block === undefined ? lineEnd : end);
  }
  return blocks;
}

function blockAt(text: string, begin: number, lineEnd: number, end: number): PemBlock | undefined {
  const line = text.slice(begin + BEGIN.length, lineEnd).trimEnd();
  const startsLine = begin === 0 || text[begin - 1] === '\n';
  if (!startsLine || !line.endsWith(DASHES) || !text.startsWith(line, end + END.length)) return undefined;
  const { hasHeaders, body } = withoutHeaders(text.slice(lineEnd + 1, end + 1));
  const base64 = body.replace(/\s/g, '');
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) return undefined;
  return { type: line.slice(0, -DASHES.length), hasHeaders, bytes: Buffer.from(base64, 'base64') };
}

/** Headers are lines with a colon, which base64 has not. */
function withoutHeaders(text: string): { readonly hasHeaders: boolean; readonly body: string } {
  const lastColon = text.lastIndexOf(':');
  if (lastColon < 0) return { hasHeaders: false, body: text };
  const lineEnd = text.indexOf('\n', lastColon);
  return { hasHeaders: true, body: lineEnd < 0 ? '' : text.slice(lineEnd) };
}

/** A file with one block. */
export const pemText = (type: string, bytes: Buffer): string =>
  `${BEGIN}${type}${DASHES}\n${bytes
    .toString('base64')
    .replace(/.{1,64}/g, '$&\n')
    .trimEnd()}${END}${type}${DASHES}\n`;
