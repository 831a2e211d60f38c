import { isDeepStrictEqual } from 'node:util';
import type { Toleration } from '../../../machinery/types/generated/core.v1.js';
import type { PodSpec } from './pod.js';

/** Both lists in their order, without those which others of them cover. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [i, one] of all.entries()) {
    if (merged.some((other) => covers(other, one))) continue;
    if (all.slice(i + 1).some((other) => covers(other, one) && !isDeepStrictEqual(other, one))) continue;
    merged.push(one);
  }
  return merged;
}

/** Whether each taint that `other` tolerates is tolerated by `one`, and for as long. */
export function covers(one: Toleration, other: Toleration): boolean {
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = one;
  if (key !== (other.key ?? '') && (key !== '' || operator !== 'Exists')) return false;
  if (effect !== '' && effect !== (other.effect ?? '')) return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return isEqual(operator) && isEqual(other.operator ?? '') && value === (other.value ?? '');
}

const isEqual = (operator: string): boolean => operator === '' || operator === 'Equal';

/** Adds one, or puts it in the place of one that differs in nothing but for how long. @returns Whether anything has changed */
export function addToleration(spec: PodSpec, toleration: Toleration): boolean {
  const tolerations = (spec.tolerations ??= []);
  const at = tolerations.findIndex((other) => identityOf(other) === identityOf(toleration));
  if (at < 0) tolerations.push(toleration);
  else if (isDeepStrictEqual(tolerations[at], toleration)) return false;
  else tolerations[at] = toleration;
  return true;
}

const identityOf = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);
