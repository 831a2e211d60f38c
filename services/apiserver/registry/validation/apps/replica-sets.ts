import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import { checkNotNegative } from '../checks/members.js';
import { checkReplicaStatus } from '../core/templates.js';
import type { PodChecks } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';
import type { Replicated } from './workloads.js';
import { checkReplicated } from './workloads.js';

interface ReplicaSetSpec extends Replicated {
  readonly minReadySeconds?: number;
}

const checkReplicaSet =
  (checks: PodChecks) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems, 'spec');
    const spec: ReplicaSetSpec = object['spec'] ?? {};
    checkNotNegative(at, 'replicas', spec.replicas);
    checkNotNegative(at, 'minReadySeconds', spec.minReadySeconds);
    checkReplicated(at, spec, checks);
  };

export const replicaSets = (checks: PodChecks): KindValidation => ({
  object: checkReplicaSet(checks),
  parts: {
    status: (next, _old, problems) => {
      checkReplicaStatus(At.root(problems, 'status'), next['status'] ?? {});
    },
  },
});
