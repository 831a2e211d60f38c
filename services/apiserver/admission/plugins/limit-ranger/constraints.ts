import { quantityAmount } from '../../../../machinery/schema/quantity.js';
import type {
  Container,
  LimitRangeItem,
  PersistentVolumeClaimSpec,
  PodSpec,
} from '../../../../machinery/types/generated/core.v1.js';
import { compareQuantities } from '../../../registry/validation/checks/quantities.js';
import { amountOf, podTotal, type Amounts } from '../../pods/totals.js';

/** What is asked for, and at most used. */
interface Usage {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** Problems with one range's bounds, in the order of its items. */
export function podProblems(spec: PodSpec, items: readonly LimitRangeItem[]): string[] {
  return items.flatMap((item) => {
    if (item.type === 'Container') {
      return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap((c) => problems(item, usageOf(c)));
    }
    if (item.type === 'Pod') return problems(item, podTotal(spec));
    return [];
  });
}

/** A claim only asks: what it asks for is what it may use at most. */
export const claimProblems = (spec: PersistentVolumeClaimSpec, items: readonly LimitRangeItem[]): string[] =>
  items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => {
      const requests = spec.resources?.requests ?? {};
      return [
        ...boundProblems(item, 'min', { requests, limits: {} }),
        ...boundProblems(item, 'max', { requests, limits: requests }, 'request'),
      ];
    });

const usageOf = ({ resources: { requests = {}, limits = {} } = {} }: Container): Usage => ({ requests, limits });

const problems = (item: LimitRangeItem, usage: Usage): string[] => [
  ...boundProblems(item, 'min', usage),
  ...boundProblems(item, 'max', usage),
  ...each(item.maxLimitRequestRatio).flatMap(([resource, ratio]) => ratioProblem(item, resource, ratio, usage)),
];

const each = (bounds: Amounts = {}): [resource: string, quantity: string][] =>
  Object.entries(bounds).sort(([a], [b]) => (a < b ? -1 : 1));

/** Which of both has to be there, and the sign of a comparison that is too much. */
const BOUNDS = {
  min: { word: 'minimum', needs: 'request', sign: -1 },
  max: { word: 'maximum', needs: 'limit', sign: 1 },
} as const;

/** @param limitWord What a limit is called. */
function boundProblems(item: LimitRangeItem, bound: keyof typeof BOUNDS, usage: Usage, limitWord = 'limit'): string[] {
  const { word, needs, sign } = BOUNDS[bound];
  return each(item[bound]).flatMap(([resource, quantity]) => {
    const label = `${word} ${resource} usage per ${item.type ?? ''} is ${quantity}`;
    const [request, limit] = [amountOf(usage.requests, resource), amountOf(usage.limits, resource)];
    if ((needs === 'request' ? request : limit) === undefined) return [`${label}.  No ${needs} is specified`];
    const isBeyond = (amount: string | undefined): amount is string =>
      amount !== undefined && compareQuantities(amount, quantity) * sign > 0;
    const beyond = [
      isBeyond(request) ? `request is ${request}` : '',
      isBeyond(limit) ? `${limitWord} is ${limit}` : '',
    ];
    const [first] = (bound === 'min' ? beyond : beyond.reverse()).filter((what) => what !== '');
    return first === undefined ? [] : [`${label}, but ${first}`];
  });
}

function ratioProblem({ type = '' }: LimitRangeItem, resource: string, most: string, usage: Usage): string[] {
  const label = `${resource} max limit to request ratio per ${type} is ${most}`;
  const [request, limit] = [amount(usage.requests, resource), amount(usage.limits, resource)];
  if (request === 0) return [`${label}, but no request is specified or request is 0`];
  if (limit === 0) return [`${label}, but no limit is specified or limit is 0`];
  const ratio = limit / request;
  return ratio > Number(quantityAmount(most) ?? 0n) / 1e9
    ? [`${label}, but provided ratio is ${ratio.toFixed(6)}`]
    : [];
}

const amount = (of: Amounts, resource: string): number => Number(quantityAmount(amountOf(of, resource) ?? '0') ?? 0n);
