import type * as admissionregistration from '../../../../machinery/types/generated/admissionregistration.v1.js';
import { type At, shownList, each } from '../checks/at.js';
import { checkUrlAndService, checkWebhookService } from '../checks/webhooks.js';
import type { TypeRules } from '../types.js';
import { checkNamedRule, checkParamKind, checkParamRef } from './policies.js';

const ALL = '*';

/** Names that a wildcard covers are not given beside it. */
function checkSubresources(at: At, resources: readonly string[]): void {
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  each(at, 'resources', resources, (text, resourceAt) => {
    const slash = text.indexOf('/');
    if (slash < 0) return;
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    if (wholeResources.has(resource)) {
      resourceAt.invalid('', text, `if '${resource}/*' is present, must not specify ${text}`);
    }
    if (wholeSubresources.has(subresource)) {
      resourceAt.invalid('', text, `if '*/${subresource}' is present, must not specify ${text}`);
    }
    if (subresource === ALL) wholeResources.add(resource);
    if (resource === ALL) wholeSubresources.add(subresource);
  });
}

function checkResources(at: At, resources: readonly string[]): void {
  checkSubresources(at, resources);
  if (resources.length > 1 && resources.includes('*/*')) {
    at.invalidShown('resources', shownList(resources), "if '*/*' is present, must not specify other resources");
  }
  const isPlain = (text: string): boolean => text !== '' && text !== ALL && !text.includes('/');
  if (resources.includes(ALL) && resources.some(isPlain)) {
    const why = "if '*' is present, must not specify other resources without subresources";
    at.invalidShown('resources', shownList(resources), why);
  }
}

export const admissionregistrationRules: TypeRules<admissionregistration.Types> = {
  NamedRuleWithOperations: checkNamedRule,
  ParamKind: checkParamKind,
  ParamRef: checkParamRef,
  RuleWithOperations: (at, { resources = [] }) => checkResources(at, resources),
  ServiceReference: checkWebhookService,
  WebhookClientConfig: checkUrlAndService,
};
