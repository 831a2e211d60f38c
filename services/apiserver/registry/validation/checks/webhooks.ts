import { dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type {
  ServiceReference,
  WebhookClientConfig,
} from '../../../../machinery/types/generated/admissionregistration.v1.js';
import type { TypeRule } from '../types.js';
import type { At } from './at.js';

const FORM = '; desired format: https://host[/path]';
/** The parts of a reference (RFC 3986, appendix B). */
const PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

function checkUrl(at: At, url: string): void {
  const [, scheme = '', authority = '', query = '', fragment = ''] = PARTS.exec(url) ?? [];
  const userEnd = authority.lastIndexOf('@');
  const host = authority.slice(userEnd + 1);
  // An address that a URL cannot have is the one problem that is reported.
  if (scheme === 'https' && host !== '' && !URL.canParse(url)) {
    at.required('url', `url must be a valid URL: parse ${JSON.stringify(url)}: invalid URL${FORM}`);
    return;
  }
  if (scheme !== 'https') at.invalid('url', scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (host === '') at.invalid('url', host, `host must be provided${FORM}`);
  if (userEnd >= 0) at.invalid('url', authority.slice(0, userEnd), 'user information is not permitted in the URL');
  if (fragment !== '') at.invalid('url', fragment, 'fragments are not permitted in the URL');
  if (query !== '') at.invalid('url', query, 'query parameters are not permitted in the URL');
}

function checkPath(at: At, path: string): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    at.invalid('path', path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) at.invalid('path', path, "must start with a '/'");
  const inner = path.slice(1, path.endsWith('/') ? -1 : undefined);
  for (const [i, segment] of inner.split('/').entries()) {
    if (segment === '') at.invalid('path', path, `segment[${i}] may not be empty`);
    else for (const problem of dns1123Subdomain(segment)) at.invalid('path', path, `segment[${i}]: ${problem}`);
  }
}

export const checkWebhookService: TypeRule<ServiceReference> = (at, { path = '' }) => checkPath(at, path);

/** Of the configuration that says how a webhook is called. */
export const checkUrlAndService: TypeRule<WebhookClientConfig> = (at, { url, service }) => {
  if ((url === undefined) === (service === undefined)) at.required('', 'exactly one of url or service is required');
  else if (url !== undefined) checkUrl(at, url);
};
