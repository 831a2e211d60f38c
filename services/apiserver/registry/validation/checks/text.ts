import { isIP } from 'node:net';
import { type TextRule, dns1123Subdomain, explained } from '../../../../machinery/meta/metadata.js';

/* Rules for texts besides those of names and labels (machinery/meta/metadata.ts), in the words that clients know. */

const NONE: readonly string[] = [];

function patternRule(pattern: string, problem: string, examples: readonly string[]): TextRule {
  const whole = new RegExp(`^(?:${pattern})$`);
  const mismatch = [explained(problem, pattern, examples)];
  return (text) => (whole.test(text) ? NONE : mismatch);
}

/** All of the rules; the problems in their order. */
const allOf =
  (...rules: readonly TextRule[]): TextRule =>
  (text) => {
    let problems = NONE;
    for (const rule of rules) {
      const found = rule(text);
      if (found.length > 0) problems = problems.length === 0 ? found : [...problems, ...found];
    }
    return problems;
  };

export const atMost =
  (max: number): TextRule =>
  (text) =>
    text.length > max ? [`must be no more than ${max} characters`] : NONE;

/** Path segments that lead out of the directory. */
const noParent: TextRule = (text) => {
  if (!text.startsWith('.')) return NONE;
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  return text.startsWith('..') ? ["must not start with '..'"] : NONE;
};

export const envVarName: TextRule = allOf(
  patternRule(
    '[-._a-zA-Z][-._a-zA-Z0-9]*',
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
    ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
  ),
  noParent,
);

export const cIdentifier: TextRule = patternRule(
  '[A-Za-z_][A-Za-z0-9_]*',
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  ['my_name', 'MY_NAME', 'MyName'],
);

/** Keys of the data of secrets and config maps. */
export const dataKey: TextRule = allOf(
  atMost(253),
  patternRule('[-._a-zA-Z0-9]+', "a valid config key must consist of alphanumeric characters, '-', '_' or '.'", [
    'key.name',
    'KEY_NAME',
    'key-name',
  ]),
  noParent,
);

export const httpHeaderName: TextRule = patternRule(
  '[-A-Za-z0-9]+',
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  ['X-Header-Name'],
);

export const conditionReason: TextRule = patternRule(
  '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?',
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'],
);

export const percentage: TextRule = patternRule(
  '[0-9]+%',
  "a valid percent string must be a numeric string followed by an ending '%'",
  ['1%', '93%'],
);

export const wildcardSubdomain: TextRule = allOf(
  atMost(253),
  patternRule(
    String.raw`\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    ['*.example.com'],
  ),
);

const must =
  (pattern: RegExp, problem: string): TextRule =>
  (text) =>
    pattern.test(text) ? NONE : [problem];
const HTTP_PATH = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;

/** The part of a URL behind the host. */
export const httpPath: TextRule = must(
  new RegExp(`^${HTTP_PATH}$`),
  `Invalid path (regex used for validation is '${HTTP_PATH}')`,
);

const mustNot =
  (pattern: RegExp, problem: string): TextRule =>
  (text) =>
    pattern.test(text) ? [problem] : NONE;

/** The name of a port: a service name of RFC 6335, in small letters. */
export const portName: TextRule = allOf(
  atMost(15),
  must(/^[-a-z0-9]+$/, 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'),
  must(/[a-z]/, 'must contain at least one letter (a-z)'),
  mustNot(/--/, 'must not contain consecutive hyphens'),
  mustNot(/^-|-$/, 'must not begin or end with a hyphen'),
);

/** Zones (`fe80::1%eth0`) mean something on one machine only, and are not allowed. */
export const ipVersion = (text: string): number => (text.includes('%') ? 0 : isIP(text));

export const ipAddress: TextRule = (text) =>
  ipVersion(text) === 0 ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : NONE;

const PREFIX_BITS = /^(?:0|[1-9]\d{0,2})$/;

/** 4 or 6; 0 when the text is no address with a prefix length. */
export function cidrVersion(text: string): number {
  const slash = text.indexOf('/');
  if (slash < 0) return 0;
  const version = ipVersion(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return PREFIX_BITS.test(bits) && Number(bits) <= (version === 4 ? 32 : 128) ? version : 0;
}

const REST_OF_ADDRESS = 'must be a valid IP address';
/** Ranges that mean something on one machine or one wire only. */
const SPECIAL: readonly (readonly [pattern: RegExp, problem: (text: string) => string])[] = [
  [/^(?:0\.0\.0\.0|[0:]+)$/, (text) => `may not be unspecified (${text})`],
  [/^(?:127\.|(?:[0:]*:)0*1$)/, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [/^(?:169\.254\.|fe[89ab][\da-f]:)/i, () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [/^(?:224\.0\.0\.|ff[\da-f]2:)/i, () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** An address that others can reach. */
export const publicAddress: TextRule = (text) => {
  if (ipVersion(text) === 0) return [REST_OF_ADDRESS];
  return SPECIAL.flatMap(([pattern, problem]) => (pattern.test(text) ? [problem(text)] : []));
};

const hasParent = (path: string): boolean => path.includes('..') && path.split('/').includes('..');

/** No part of the path is `..`: all that is left of paths that may be absolute. */
export const descendingPath: TextRule = (path) => (hasParent(path) ? ["must not contain '..'"] : NONE);

/** Stays below the directory it is relative to. */
export const localPath: TextRule = (path) =>
  path.startsWith('/') ? ['must be a relative path', ...descendingPath(path)] : descendingPath(path);

/** The same, and does not begin like the files that volumes keep for themselves. */
export const unreservedPath: TextRule = (path) => {
  const problems = localPath(path);
  return path.startsWith('..') && !path.startsWith('../') ? [...problems, "must not start with '..'"] : problems;
};

export const absolutePath: TextRule = (path) => (path.startsWith('/') ? NONE : ['must be an absolute path']);

/** A DNS name, or one for all names below a domain. */
export const hostName: TextRule = (host) => (host.includes('*') ? wildcardSubdomain(host) : dns1123Subdomain(host));

/** `*`, or the name of an object. */
export const anyOrSubdomain: TextRule = (name) => (name === '*' ? NONE : dns1123Subdomain(name));

const WWN_FORMS: ReadonlyMap<string, RegExp> = new Map([
  ['iqn', /^iqn\.\d{4}-\d{2}\.[a-zA-Z0-9.-]+:[^,;*&$|\s]+$/],
  ['eui', /^eui.[a-zA-Z0-9]{16}$/],
  ['naa', /^naa.[a-zA-Z0-9]{32}$/],
]);

/** The name of a target or an initiator of iSCSI. */
export const wwn: TextRule = (text) => {
  const form = WWN_FORMS.get(text.slice(0, 3));
  if (form === undefined) return ['must be valid format starting with iqn, eui, or naa'];
  return form.test(text) ? NONE : ['must be valid format'];
};
