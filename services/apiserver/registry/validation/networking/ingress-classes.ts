import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import { checkRule } from '../checks/members.js';
import { httpPath } from '../checks/text.js';
import type { KindValidation } from '../types.js';
import type { ScopedReference } from './references.js';
import { checkScopedReference } from './references.js';

interface IngressClassSpec {
  readonly controller?: string;
  readonly parameters?: ScopedReference;
}

const MAX_CONTROLLER = 250;

/** `example.com/controller`: whose it is, and which. */
function checkDomainPrefixedPath(at: At, member: string, text: string): void {
  if (text === '') {
    at.required(member);
    return;
  }
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) {
    at.invalid(member, text, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  checkRule(at, member, text.slice(0, slash), dns1123Subdomain);
  checkRule(at, member, text.slice(slash + 1), httpPath);
}

export const ingressClasses: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems, 'spec');
    const { controller = '', parameters } = (object['spec'] ?? {}) as IngressClassSpec;
    if (controller.length > MAX_CONTROLLER) at.tooLong('controller', MAX_CONTROLLER);
    checkDomainPrefixedPath(at, 'controller', controller);
    if (parameters !== undefined) checkScopedReference(at.child('parameters'), parameters);
  },
};
