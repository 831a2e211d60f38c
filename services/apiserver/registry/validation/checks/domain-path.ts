import { dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import { type At, checkRule } from './at.js';
import { httpPath } from './text.js';

/** `example.com/controller`: whose it is, and which. */
export function checkDomainPath(at: At, member: string, text: string): void {
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) {
    at.invalid(member, text, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  checkRule(at, member, text.slice(0, slash), dns1123Subdomain);
  checkRule(at, member, text.slice(slash + 1), httpPath);
}
