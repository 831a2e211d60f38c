import type { ApiObject } from '../../../machinery/meta/object.js';
import { notFound } from '../../../machinery/meta/status.js';
import { derived, type AdmissionObjects } from '../objects.js';
import { containersOf, specOf } from '../pods/pod.js';
import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

export interface DenyExecDeps {
  readonly objects: Pick<AdmissionObjects, 'present' | 'whenFresh'>;
}

const PODS = { group: '', resource: 'pods' };
const SESSIONS: ReadonlySet<string> = new Set(['exec', 'attach']);

const OF_HOST = [
  ['hostPID', 'cannot exec into or attach to a container using host pid'],
  ['hostIPC', 'cannot exec into or attach to a container using host ipc'],
] as const;
const PRIVILEGED = 'cannot exec into or attach to a privileged container';

/** Nobody comes to a node's own rights through a container that has them (spec 2, 4.4). */
export const denyEscalatingExec = ({ objects }: DenyExecDeps): AdmissionPlugin => denyExec(objects, escalation);

/** The same, where only privileged containers count. */
export const denyExecOnPrivileged = ({ objects }: DenyExecDeps): AdmissionPlugin => denyExec(objects, privilege);

function denyExec(objects: DenyExecDeps['objects'], problemOf: (pod: ApiObject) => string): AdmissionPlugin {
  const known = derived(problemOf);
  return {
    operations: ['CONNECT'],
    resources: ['pods'],
    validate: async (request) => {
      const { namespace, name, subresource } = request;
      if (!SESSIONS.has(subresource)) return;
      await objects.whenFresh(request); // another pod of the name may just have come
      const pod = await objects.present(PODS, namespace, name, request);
      if (pod === undefined) throw notFound(PODS, name);
      const problem = known(pod);
      if (problem !== '') throw refused(request, problem);
    },
  };
}

const escalation = (pod: ApiObject): string =>
  OF_HOST.find(([member]) => specOf(pod)[member] === true)?.[1] ?? privilege(pod);

const privilege = (pod: ApiObject): string =>
  containersOf(specOf(pod)).some(({ container }) => container.securityContext?.privileged === true) ? PRIVILEGED : '';
