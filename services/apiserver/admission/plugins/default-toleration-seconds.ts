import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { specOf, type PodSpec } from '../pods/pod.js';
import type { AdmissionPlugin } from '../plugin.js';

/** How long pods stay on a node in trouble, in seconds, where they do not say. */
export interface TolerationSeconds {
  readonly defaultNotReadyTolerationSeconds: number;
  readonly defaultUnreachableTolerationSeconds: number;
}

/** Pods stay for some minutes on a node that is not ready or that cannot be reached (spec 2, 4.4). */
export function defaultTolerationSeconds(seconds: TolerationSeconds, { taints }: Vocabulary): AdmissionPlugin {
  const defaults = [
    { key: taints.notReady, tolerationSeconds: seconds.defaultNotReadyTolerationSeconds },
    { key: taints.unreachable, tolerationSeconds: seconds.defaultUnreachableTolerationSeconds },
  ];
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: ({ object, subresource }) => {
      if (object === undefined || subresource !== '') return;
      const spec = specOf(object);
      const missing = defaults.filter(({ key }) => !tolerates(spec, key));
      if (missing.length === 0) return;
      const added = missing.map((one) => ({ operator: 'Exists', effect: 'NoExecute', ...one }));
      spec.tolerations = [...(spec.tolerations ?? []), ...added];
    },
  };
}

/** Whether a pod says anything about that taint, or about all. */
const tolerates = ({ tolerations = [] }: PodSpec, taint: string): boolean =>
  tolerations.some(({ key = '', effect = '' }) => [taint, ''].includes(key) && ['NoExecute', ''].includes(effect));
