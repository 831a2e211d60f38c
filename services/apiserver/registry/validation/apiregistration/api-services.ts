import { dns1035Label, dns1123Subdomain, pathSegment } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import { checkRule, checkText, each, requireTexts } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';

interface ApiServiceSpec {
  readonly service?: { readonly namespace?: string; readonly name?: string };
  readonly group?: string;
  readonly version?: string;
  readonly insecureSkipTLSVerify?: boolean;
  /** In base64. */
  readonly caBundle?: string;
  readonly groupPriorityMinimum?: number;
  readonly versionPriority?: number;
}

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;

function checkPriority(at: At, member: string, priority: number, max: number): void {
  if (priority <= 0 || priority > max) at.invalid(member, priority, `must be positive and less than ${max}`);
}

/** A group that this server answers for itself is trusted, and called by nobody. */
function checkTrust(at: At, spec: ApiServiceSpec): void {
  const { service, caBundle = '', insecureSkipTLSVerify: isInsecure = false } = spec;
  if (service === undefined) {
    const bytes = Buffer.from(caBundle, 'base64').length;
    if (bytes > 0) at.invalid('caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle');
    if (isInsecure) {
      at.invalid('insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify');
    }
    return;
  }
  requireTexts(at.child('service'), { namespace: '', name: '', ...service }, 'namespace', 'name');
  if (isInsecure && caBundle !== '') {
    at.invalid('insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
}

function checkName(problems: Problems, name: string, expected: string): void {
  if (name === expected || pathSegment(name).length > 0) return;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`;
  At.root(problems, 'metadata').invalid('name', name, why);
}

function checkApiService(object: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec: ApiServiceSpec = object['spec'] ?? {};
  const { group = '', version = '' } = spec;
  checkName(problems, object.metadata.name ?? '', `${version}.${group}`);
  if (group === '' && version !== 'v1') {
    at.required('group', 'only v1 may have an empty group');
  }
  checkText(at, 'group', group, dns1123Subdomain);
  checkRule(at, 'version', version, dns1035Label);
  checkPriority(at, 'groupPriorityMinimum', spec.groupPriorityMinimum ?? 0, MAX_GROUP_PRIORITY);
  checkPriority(at, 'versionPriority', spec.versionPriority ?? 0, MAX_VERSION_PRIORITY);
  checkTrust(at, spec);
}

const STATUSES = ['True', 'False', 'Unknown'];

function checkStatus(next: ApiObject, _old: ApiObject, problems: Problems): void {
  const { conditions } = (next['status'] ?? {}) as { readonly conditions?: readonly { readonly status?: string }[] };
  each(At.root(problems, 'status'), 'conditions', conditions, ({ status = '' }, at) => {
    if (!STATUSES.includes(status)) at.notSupported('status', status, STATUSES);
  });
}

export const apiServices: KindValidation = { object: checkApiService, parts: { status: checkStatus } };
