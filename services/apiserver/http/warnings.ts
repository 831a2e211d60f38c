import type { Context } from '../request/request.js';

/** More would make headers that clients refuse. */
const MAX_WARNINGS = 20;
/** Of all together, in characters; those that go beyond are cut. */
const MAX_TOTAL = 4096;
const MAX_LENGTH = 256;

/**
 * Tells the client something beside the answer (RFC 7234, 5.5), behind what was told already; nothing is told twice. Texts may quote what the
 * client sent: nothing but printable ASCII reaches the header.
 */
export function addWarnings(ctx: Context, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const header = ctx.res.getHeader('Warning');
  const all = new Set<string>(Array.isArray(header) ? header : []);
  for (const text of texts) {
    const room = MAX_TOTAL - [...all].reduce((length, one) => length + one.length, 0);
    all.add(warning(text.slice(0, Math.max(room, MAX_LENGTH))));
  }
  ctx.res.setHeader('Warning', [...all].slice(0, MAX_WARNINGS));
}

const warning = (text: string): string =>
  `299 - "${text
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`;
