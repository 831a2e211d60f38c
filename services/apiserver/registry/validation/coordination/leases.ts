import { At } from '../checks/at.js';
import { checkNotNegative } from '../checks/members.js';
import type { KindValidation } from '../types.js';

interface LeaseSpec {
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
}

export const leases: KindValidation = {
  object: (lease, problems) => {
    const at = At.root(problems, 'spec');
    const { leaseDurationSeconds: seconds = 1, leaseTransitions } = (lease['spec'] ?? {}) as LeaseSpec;
    if (seconds <= 0) at.invalid('leaseDurationSeconds', seconds, 'must be greater than 0');
    checkNotNegative(at, 'leaseTransitions', leaseTransitions);
  },
};
