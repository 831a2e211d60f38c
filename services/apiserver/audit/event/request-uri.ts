/** Query parameters that carry credentials: of OAuth, and what clients of other servers send. In lower case. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'token',
  'bearer_token',
  'auth_token',
  'authorization',
  'password',
  'passwd',
  'secret',
  'client_secret',
  'api_key',
  'apikey',
]);

const MASK = 'REDACTED';

/** Path and query as they were asked for, the values of credentials masked: they go into files that others read. */
export function shownUri(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0) return url;
  const query = url.slice(mark + 1);
  const masked = query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals >= 0 && isCredential(pair.slice(0, equals)) ? `${pair.slice(0, equals)}=${MASK}` : pair;
    })
    .join('&');
  return masked === query ? url : `${url.slice(0, mark)}?${masked}`;
}

function isCredential(name: string): boolean {
  const spelled = name.includes('%') || name.includes('+') ? decoded(name) : name;
  return CREDENTIALS.has(spelled.trim().toLowerCase());
}

function decoded(name: string): string {
  return new URLSearchParams(`${name}=`).keys().next().value ?? name;
}
