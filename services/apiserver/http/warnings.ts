import type { Context } from '../request/request.js';

/** More would make headers that clients refuse. */
const MAX_WARNINGS = 20;
const MAX_LENGTH = 512;

/**
 * Tells the client something beside the answer (RFC 7234, 5.5), behind what was told already; nothing is told twice. Texts may quote what the
 * client sent: nothing but printable ASCII reaches the header.
 */
export function addWarnings(ctx: Context, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const present = ctx.res.getHeader('Warning');
  const all = new Set([...(Array.isArray(present) ? present : []), ...texts.map(warning)]);
  ctx.res.setHeader('Warning', [...all].slice(0, MAX_WARNINGS));
}

const warning = (text: string): string =>
  `299 - "${text
    .slice(0, MAX_LENGTH)
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`;
