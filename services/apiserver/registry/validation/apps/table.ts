import type { PodChecks } from '../pods/spec.js';
import type { GroupValidation } from '../types.js';
import { controllerRevisions } from './controller-revisions.js';
import { daemonSets } from './daemon-sets.js';
import { deployments } from './deployments.js';
import { replicaSets } from './replica-sets.js';
import { statefulSets } from './stateful-sets.js';

export const appsValidation = (checks: PodChecks): GroupValidation => ({
  controllerrevisions: controllerRevisions,
  daemonsets: daemonSets(checks),
  deployments: deployments(checks),
  replicasets: replicaSets(checks),
  statefulsets: statefulSets,
});
