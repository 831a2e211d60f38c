import { pino } from 'pino';

/** What stands for a secret. */
export const REDACTED = '[redacted]';

/** Longest text of one entry; errors may quote what others sent. */
const MAX_TEXT = 16_384;
const MAX_DEPTH = 6;
const MAX_MEMBERS = 200;

/** Members that hold secrets, whatever they are written like: `clientSecret`, `client-secret`, `Client_Secret`. */
const SECRET_MEMBER =
  /^(?:.*(?:authorization|password|passwd|passphrase|secret|cookie|apikey|credentials?|privatekey|bearer|tokens?|keydata)|stringdata|pem)$/;

const plainName = (name: string): string => name.replace(/[-_ ]/g, '').toLowerCase();
export const isSecretMember = (name: string): boolean => SECRET_MEMBER.test(plainName(name));

type Cure = readonly [RegExp, string];

/** Names of secrets in texts. */
const NAMED =
  '(?:[\\w-]*(?:authorization|password|passwd|passphrase|secret|private-?key|key-data|api-?key|cookie)|(?:[\\w-]*[_-])?token|(?:access|id|refresh|session|client|bearer|auth)token)';
const VALUE = '(?!\\[redacted\\])[^\\s"\'\\\\,;&}]{2,}';
const HIDDEN = `$1${REDACTED}`;

/** Secrets that show by their form, in whatever text they stand. */
const FORMS: readonly Cure[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, REDACTED],
  // A JSON web token: a header, claims and perhaps a signature.
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, REDACTED],
  [/\b(Bearer|Basic|Negotiate|Digest)(\s+|%20)(?!realm=)[\w.~+/=:-]{4,}/gi, `$1 ${REDACTED}`],
  [/\bbase64url\.bearer\.authorization\.[\w.]*\.[\w-]+/g, REDACTED],
  // A bootstrap token.
  [/\b([a-z0-9]{6})\.[a-z0-9]{16}\b/g, `$1.${REDACTED}`],
  [/(\w:\/\/[^\s/:@]*):[^\s/@]+@/g, `$1:${REDACTED}@`],
  [
    /([?&;](?:[\w-]*(?:token|secret|password|signature|credential|api_?key)|code|assertion)=)[^&\s"'#]+/gi,
    `$1${REDACTED}`,
  ],
  // Members of JSON, also where its text is quoted, and pairs. Prose has a space behind a colon: "knows the token: ..."
  [
    new RegExp(String.raw`((?:^|[^\w-])\\?["']?${NAMED}\\?["']?(?:\s*=\s*|:|(?<=["']):\s+)\\?["']?)${VALUE}`, 'gi'),
    HIDDEN,
  ],
  // Lines of YAML and of headers.
  [new RegExp(String.raw`^(\s*(?:- )?${NAMED}:\s+["']?)${VALUE}`, 'gim'), HIDDEN],
  [new RegExp(String.raw`\b((?:proxy-)?authorization:\s*)${VALUE}`, 'gi'), HIDDEN],
];

/** A text without the secrets that show in it. */
export function redactedText(text: string): string {
  let cured = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  for (const [form, instead] of FORMS) cured = cured.replace(form, instead);
  return cured;
}

/** What a log entry says, without secrets, at any depth; bounded, also where it refers to itself. Never throws. */
export function redacted(value: unknown): unknown {
  let left = MAX_MEMBERS;
  const within = new Set<object>();
  const walk = (at: unknown, depth: number): unknown => {
    if (typeof at === 'string') return redactedText(at);
    if (typeof at === 'bigint') return String(at);
    if (typeof at !== 'object' || at === null) return typeof at === 'function' ? undefined : at;
    if (ArrayBuffer.isView(at)) return `${at.byteLength} bytes`; // of what, nobody knows
    if (depth > MAX_DEPTH || within.has(at) || left <= 0) return '…';
    within.add(at);
    const copy = at instanceof Error ? ofError(at, depth) : members(at, depth);
    within.delete(at);
    return copy;
  };
  const ofError = (err: Error, depth: number): unknown => {
    const { type, message, stack, code } = pino.stdSerializers.err(err) as unknown as Record<string, unknown>;
    // Other members are of libraries: requests with their headers, and the like.
    return walk({ type, message, stack, ...(code === undefined ? {} : { code }) }, depth + 1);
  };
  const members = (at: object, depth: number): unknown => {
    if (at instanceof Date) return at.toJSON();
    if (at instanceof Map || at instanceof Set) return walk([...at], depth + 1);
    if (Array.isArray(at)) return at.slice(0, Math.max(0, left)).map((item) => ((left -= 1), walk(item, depth + 1)));
    const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [name, member] of Object.entries(at)) {
      if ((left -= 1) < 0) break;
      copy[name] = isSecretMember(name) && hides(member) ? REDACTED : walk(member, depth + 1);
    }
    return copy;
  };
  return walk(value, 0);
}

/** Numbers and the like say how much, not what. */
const hides = (member: unknown): boolean => (typeof member === 'string' ? member !== '' : typeof member === 'object');

/** Parameters of this API, whose values are no secrets. All others may be of whoever is behind a proxy. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['watch', 'limit', 'resourceVersion', 'resourceVersionMatch', 'labelSelector', 'fieldSelector', 'timeoutSeconds'],
  ...['timeout', 'allowWatchBookmarks', 'sendInitialEvents', 'fieldManager', 'fieldValidation', 'force', 'dryRun'],
  ...['pretty', 'includeObject', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'verbose', 'exclude'],
  ...['container', 'follow', 'previous', 'tailLines', 'limitBytes', 'sinceSeconds', 'timestamps', 'stdin', 'stdout'],
  ...['stderr', 'tty', 'ports', 'seconds'],
]);

/** A request's path and query for a log: values of parameters that this API does not know are left out. */
export function redactedUrl(url: string): string {
  const from = url.indexOf('?');
  if (from < 0) return redactedText(url);
  const pairs = url.slice(from + 1).split('&');
  const shown = pairs.map((pair) => {
    const name = pair.split('=', 1)[0] ?? '';
    return KNOWN_PARAMETERS.has(name) || !pair.includes('=') ? pair : `${name}=${REDACTED}`;
  });
  return redactedText(`${url.slice(0, from)}?${shown.join('&')}`);
}
