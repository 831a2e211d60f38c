import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { GroupValidation } from '../types.js';
import { ingressClasses } from './ingress-classes.js';
import { ingresses } from './ingresses.js';
import { networkPolicies } from './network-policies.js';

export const networkingValidation = (vocabulary: Vocabulary): GroupValidation => ({
  ingressclasses: ingressClasses,
  ingresses: ingresses(vocabulary),
  networkpolicies: networkPolicies,
});
