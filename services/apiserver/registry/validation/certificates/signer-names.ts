import { type TextRule, dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type { At } from '../checks/at.js';

const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
/** A domain, and the name of an object in a namespace. */
const MAX_NAME = MAX_DOMAIN + 1 + MAX_LABEL + 1 + MAX_DOMAIN;

/** The first part that is wrong says enough. */
function checkParts(at: At, member: string, text: string, rule: TextRule): void {
  const wrong = text.split('.').find((part) => rule(part).length > 0);
  if (wrong === undefined) return;
  for (const problem of rule(wrong)) {
    at.invalid(member, text, `validating label ${JSON.stringify(wrong)}: ${problem}`);
  }
}

/** `example.com/signer`: whose signer, and which. */
export function checkSignerName(at: At, member: string, name: string): void {
  const [domain = '', path = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    at.invalid(member, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (domain.length > MAX_DOMAIN) at.tooLong(member, MAX_DOMAIN);
  checkParts(at, member, domain, dns1123Label);
  if (!domain.includes('.')) {
    at.invalid(member, domain, 'should be a domain with at least two segments separated by dots');
  }
  checkParts(at, member, path, dns1123Subdomain);
  if (name.length > MAX_NAME) at.tooLong(member, MAX_NAME);
}
