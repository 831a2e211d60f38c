import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { checkLoadBalancerIngress } from '../checks/load-balancers.js';
import { resourceChecks } from '../checks/quantities.js';
import { podRules } from '../pods/spec.js';
import type { TypeRule, TypeRules, ValidationOptions } from '../types.js';
import { volumeRules } from '../volumes/rules.js';
import { dataRules } from './data.js';
import { limitRangeRule } from './limit-ranges.js';
import { checkVolume } from './persistent-volumes.js';
import { checkPod } from './pods.js';
import { checkController, checkReplicaStatus } from './replicas.js';
import { serviceRule } from './services.js';

const checkSubset: TypeRule<core.EndpointSubset> = (at, { addresses = [], notReadyAddresses = [], ports = [] }) => {
  if (addresses.length + notReadyAddresses.length === 0) {
    at.required('', 'must specify `addresses` or `notReadyAddresses`');
  }
  if (ports.length < 2) return;
  ports.forEach(({ name = '' }, i) => {
    if (name === '') at.child('ports').index(i).required('name');
  });
};

export const coreRules = (vocabulary: Vocabulary, o: ValidationOptions): TypeRules<core.Types> => ({
  ...dataRules(vocabulary),
  ...podRules(vocabulary, o),
  ...volumeRules(vocabulary),
  EndpointSubset: checkSubset,
  LimitRangeItem: limitRangeRule(resourceChecks(vocabulary)),
  LoadBalancerIngress: checkLoadBalancerIngress,
  PersistentVolume: checkVolume,
  Pod: checkPod,
  ReplicationControllerSpec: checkController,
  ReplicationControllerStatus: (at, status) => checkReplicaStatus(at, status),
  ServiceSpec: serviceRule(vocabulary),
});
