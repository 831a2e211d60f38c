import { containersOf, specOf, type Container, type PodSpec } from '../../pods/pod.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type {
  PodSecurityPolicySpec,
  RunAsGroupStrategyOptions,
} from '../../../../machinery/types/generated/policy.v1beta1.js';

type Context = NonNullable<Container['securityContext']>;

/** Gives a pod what a policy wants of it, where it does not say anything itself. */
export function assign(pod: ApiObject, policy: PodSecurityPolicySpec): void {
  const spec = specOf(pod);
  const context = { ...spec.securityContext };
  const { supplementalGroups, fsGroup, seLinux, runtimeClass } = policy;
  const [group, ofFiles] = [least(supplementalGroups), least(fsGroup)];
  if (group !== undefined) context.supplementalGroups ??= [group];
  if (ofFiles !== undefined) context.fsGroup ??= ofFiles;
  if (seLinux?.rule === 'MustRunAs' && seLinux.seLinuxOptions !== undefined) {
    context.seLinuxOptions ??= { ...seLinux.seLinuxOptions };
  }
  if (runtimeClass?.defaultRuntimeClassName != null) spec.runtimeClassName ??= runtimeClass.defaultRuntimeClassName;
  if (Object.keys(context).length > 0) spec.securityContext = context;
  for (const { container, list } of containersOf(spec)) {
    if (list !== 'ephemeralContainers') assignToContainer(spec, container, policy);
  }
}

/** The smallest number of the first range, where a rule wants one. */
const least = (strategy: RunAsGroupStrategyOptions | undefined): number | undefined =>
  strategy?.rule === 'MustRunAs' ? (strategy.ranges?.[0]?.min ?? 0) : undefined;

function assignToContainer(spec: PodSpec, container: Container, policy: PodSecurityPolicySpec): void {
  const context: Context = { ...container.securityContext };
  const { securityContext: ofPod = {} } = spec;
  const [user, group] = [least(policy.runAsUser), least(policy.runAsGroup)];
  if (user !== undefined && ofPod.runAsUser === undefined) context.runAsUser ??= user;
  if (group !== undefined && ofPod.runAsGroup === undefined) context.runAsGroup ??= group;
  if (policy.runAsUser?.rule === 'MustRunAsNonRoot' && (context.runAsUser ?? ofPod.runAsUser) === undefined) {
    if (ofPod.runAsNonRoot === undefined) context.runAsNonRoot ??= true;
  }
  assignCapabilities(context, policy);
  if (policy.readOnlyRootFilesystem === true) context.readOnlyRootFilesystem ??= true;
  const { defaultAllowPrivilegeEscalation: usual, allowPrivilegeEscalation: allowed = true } = policy;
  if (usual !== undefined) context.allowPrivilegeEscalation ??= usual;
  if (!allowed) context.allowPrivilegeEscalation ??= false;
  if (Object.keys(context).length > 0) container.securityContext = context;
}

function assignCapabilities(context: Context, policy: PodSecurityPolicySpec): void {
  const { add = [], drop = [] } = context.capabilities ?? {};
  const more = (policy.defaultAddCapabilities ?? []).filter((one) => !add.includes(one) && !drop.includes(one));
  const less = (policy.requiredDropCapabilities ?? []).filter((one) => !drop.includes(one));
  if (more.length === 0 && less.length === 0) return;
  context.capabilities = {
    ...context.capabilities,
    ...(add.length + more.length === 0 ? {} : { add: [...add, ...more].sort() }),
    ...(drop.length + less.length === 0 ? {} : { drop: [...drop, ...less].sort() }),
  };
}
