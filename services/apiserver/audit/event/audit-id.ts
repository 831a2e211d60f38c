import { randomUUID } from 'node:crypto';

export const AUDIT_ID_HEADER = 'Audit-ID';

/** Longer ones, and those with anything but visible characters of ASCII, would be trouble in other people's logs. */
const USABLE = /^[\x21-\x7e]{1,64}$/;

/** The id that a client or a proxy gave its request, where it can be used; else a new one. */
export const auditIdOf = (header: string | readonly string[] | undefined): string =>
  typeof header === 'string' && USABLE.test(header) ? header : randomUUID();
