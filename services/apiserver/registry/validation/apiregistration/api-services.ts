import { pathSegment } from '../../../../machinery/meta/metadata.js';
import type * as apiregistration from '../../../../machinery/types/generated/apiregistration.v1.js';
import type { At } from '../checks/at.js';
import type { TypeRules } from '../types.js';

/** A group that this server serves itself has no service to call. */
function checkTrust(at: At, spec: apiregistration.APIServiceSpec): void {
  const { group = '', version = '', service, caBundle = '', insecureSkipTLSVerify: isInsecure = false } = spec;
  if (group === '' && version !== 'v1') at.required('group', 'only v1 may have an empty group');
  if (service === undefined) {
    const bytes = Buffer.from(caBundle, 'base64').length;
    if (bytes > 0) at.invalid('caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle');
    if (isInsecure) {
      at.invalid('insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify');
    }
  } else if (isInsecure && caBundle !== '') {
    at.invalid('insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
}

export const apiregistrationRules: TypeRules<apiregistration.Types> = {
  APIService: (at, { metadata: { name = '' } = {}, spec: { version = '', group = '' } = {} }) => {
    const expected = `${version}.${group}`;
    if (name === expected || pathSegment(name).length > 0) return;
    at.invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`);
  },
  APIServiceSpec: checkTrust,
};
