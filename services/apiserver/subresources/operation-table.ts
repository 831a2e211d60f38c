import type { Operations, OperationVerbs } from '../verbs/dispatch.js';
import { bindings, podBinding } from './binding.js';
import { componentStatuses } from './component-statuses.js';
import { log } from './connect/log.js';
import { nodeProxy, podProxy, serviceProxy } from './connect/proxy.js';
import { attach, exec, portForward } from './connect/sessions.js';
import { eviction } from './eviction.js';
import { localSubjectAccessReviews, selfSubjectAccessReviews, subjectAccessReviews } from './reviews/access.js';
import { selfSubjectReviews, tokenReviews } from './reviews/identity.js';
import { selfSubjectRulesReviews } from './reviews/rules.js';
import { scale } from './scale.js';
import { accountToken } from './tokens/token.js';
import type { OperationDeps } from './operation.js';

/** By group and by `<resource>` or `<resource>/<subresource>`. One file each, one line here. */
const operationTable = (d: OperationDeps): Readonly<Record<string, Readonly<Record<string, OperationVerbs>>>> => ({
  '': {
    bindings: bindings(d),
    componentstatuses: componentStatuses(d),
    'nodes/proxy': nodeProxy(d),
    'pods/attach': attach(d),
    'pods/binding': podBinding(d),
    'pods/eviction': eviction(d),
    'pods/exec': exec(d),
    'pods/log': log(d),
    'pods/portforward': portForward(d),
    'pods/proxy': podProxy(d),
    'serviceaccounts/token': accountToken(d),
    'services/proxy': serviceProxy(d),
  },
  '*': { '*/scale': scale(d) },
  [d.vocabulary.groups.authentication]: {
    selfsubjectreviews: selfSubjectReviews(d),
    tokenreviews: tokenReviews(d),
  },
  [d.vocabulary.groups.authorization]: {
    localsubjectaccessreviews: localSubjectAccessReviews(d),
    selfsubjectaccessreviews: selfSubjectAccessReviews(d),
    selfsubjectrulesreviews: selfSubjectRulesReviews(d),
    subjectaccessreviews: subjectAccessReviews(d),
  },
});

export const operations = (d: OperationDeps): Operations =>
  new Map(Object.entries(operationTable(d)).map(([group, paths]) => [group, new Map(Object.entries(paths))]));
