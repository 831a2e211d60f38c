import type { ApiObject } from '../meta/object.js';
import { quantityAmount } from '../schema/quantity.js';

export type QualityOfService = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Amounts = Readonly<Record<string, string>>;
interface Container {
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
}

/** The resources that count; all others leave the class as it is. */
const COUNTED = ['cpu', 'memory'] as const;

/**
 * How a pod is treated when its node runs short: guaranteed when all of its containers may use just what they ask for,
 * best effort when none asks for anything.
 */
export function qualityOfService(pod: ApiObject): QualityOfService {
  const { containers, initContainers } = (pod['spec'] ?? {}) as {
    containers?: readonly Container[] | null; // a pod that names none is refused after this
    initContainers?: readonly Container[] | null;
  };
  const all = [...(containers ?? []), ...(initContainers ?? [])];
  const asks = all.some(({ resources }) =>
    COUNTED.some((r) => isSet(resources?.requests, r) || isSet(resources?.limits, r)),
  );
  if (!asks) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const amount = (of: Amounts | undefined, resource: string): bigint => quantityAmount(of?.[resource] ?? '0') ?? 0n;
const isSet = (of: Amounts | undefined, resource: string): boolean => amount(of, resource) > 0n;

const isGuaranteed = ({ resources }: Container): boolean =>
  COUNTED.every((r) => isSet(resources?.limits, r) && amount(resources?.requests, r) === amount(resources?.limits, r));
