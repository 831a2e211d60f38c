import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { badRequest } from '../../machinery/meta/status.js';

type Request = Pick<IncomingMessage | Http2ServerRequest, 'headers' | 'rawHeaders'> &
  Partial<Pick<IncomingMessage, 'headersDistinct'>>;

/** Names and values as they came, from the flat list that node:http keeps them in. */
export function* headerPairs(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [raw[i] ?? '', raw[i + 1] ?? ''];
}

/**
 * The values of all headers whose name, in lower case, `matches`, in the order in which they came. Node joins several
 * headers of one name with commas, which cannot be told from commas of the client.
 *
 * @throws {StatusError} BadRequest for a value that is no UTF-8, or has white space around it: that belongs to no value
 * (RFC 9110, 5.5), and a name with it would not be the name without
 */
export function headersOf(
  { rawHeaders }: Request,
  matches: (name: string) => boolean,
): { readonly name: string; readonly value: string }[] {
  const found: { name: string; value: string }[] = [];
  for (const [raw, value] of headerPairs(rawHeaders)) {
    const name = raw.toLowerCase();
    if (matches(name)) found.push({ name, value: utf8(value) });
  }
  return found;
}

/** Takes headers off a request, so that nothing further in sees or passes on what they said. */
export function removeHeaders(req: Request, matches: (name: string) => boolean): void {
  // The last of them is made of the raw list when it is first read, and fails when that has become shorter.
  const { headers, rawHeaders, headersDistinct = {} } = req;
  for (const named of [headers, headersDistinct]) {
    for (const name of Object.keys(named)) if (matches(name)) Reflect.deleteProperty(named, name);
  }
  const kept = [...headerPairs(rawHeaders)].filter(([name]) => !matches(name.toLowerCase()));
  rawHeaders.splice(0, rawHeaders.length, ...kept.flat());
}

/** Gives a header one value, in place of all that came under its name, which is in lower case. */
export function replaceHeader(req: Request, name: string, value: string): void {
  removeHeaders(req, (other) => other === name);
  req.headers[name] = value;
  req.rawHeaders.push(name, value);
  if (req.headersDistinct !== undefined) req.headersDistinct[name] = [value];
}

const AROUND = /^[ \t]|[ \t]$/;
const ASCII = /^[\x20-\x7e\t]*$/;
const strict = new TextDecoder('utf-8', { fatal: true });

/** Node reads a byte of a header as a character; clients send text in UTF-8. */
function utf8(value: string): string {
  if (AROUND.test(value)) throw badRequest('A header begins or ends with white space');
  if (ASCII.test(value)) return value;
  try {
    return strict.decode(Buffer.from(value, 'latin1'));
  } catch (err) {
    throw badRequest('A header is not UTF-8', err);
  }
}
