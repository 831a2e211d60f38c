import type { Container, Pod, PodSpec, ResourceRequirements } from '../types/generated/core.v1.js';
import { addAmount, isMore, type Amounts } from './amounts.js';
import type { Evaluator } from './evaluators.js';

type Quantities = Readonly<Record<string, string>> | undefined;

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'] as const;
const HUGE_PAGES = 'hugepages-';

/** Pods that are over use nothing any more. */
const OVER: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/** Names of which every container has to say something where a quota has them. */
const REQUIRED: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  ...['requests', 'limits'].flatMap((side) => [`${side}.cpu`, `${side}.memory`]),
]);

/**
 * What quotas count of pods. Pods are checked when they are created; later they only give back.
 *
 * @param isNative Whether a resource is one of the API itself, not an extended one that a node advertises.
 */
export function podEvaluator(isNative: (name: string) => boolean): Evaluator {
  return {
    counts: (name) => NAMES.has(name) || countsContainers(name, isNative),
    usage: (object) => podUsage(object as Pod, isNative),
    hasScopes: true,
    checksUpdates: false,
    missing: (object, hard) => missingOf(object as Pod, hard, isNative),
  };
}

const NAMES: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

function countsContainers(name: string, isNative: (name: string) => boolean): boolean {
  if (name.startsWith(HUGE_PAGES)) return true;
  if (!name.startsWith('requests.')) return false;
  const resource = name.slice('requests.'.length);
  return resource.startsWith(HUGE_PAGES) || (resource.includes('/') && !isNative(resource));
}

function podUsage({ spec = {}, status = {} }: Pod, isNative: (name: string) => boolean): Amounts {
  const usage = new Map([['count/pods', '1']]);
  if (OVER.has(status.phase ?? '')) return usage;
  usage.set('pods', '1');
  const requests = podTotal(spec, ({ requests: asked }) => asked);
  const limits = podTotal(spec, ({ limits: asked }) => asked);
  addOverhead(spec.overhead, requests, limits);
  countRequests(requests, usage, isNative);
  countLimits(limits, usage);
  return usage;
}

/** Containers run at the same time, those that initialize the pod one after another and before them. */
function podTotal(
  { containers, initContainers }: PodSpec,
  side: (resources: ResourceRequirements) => Quantities,
): Map<string, string> {
  const total = new Map<string, string>();
  for (const container of containers ?? []) {
    for (const [name, quantity] of entries(container, side)) addAmount(total, name, quantity);
  }
  for (const container of initContainers ?? []) {
    for (const [name, quantity] of entries(container, side)) {
      if (isMore(quantity, total.get(name) ?? '0')) total.set(name, quantity);
    }
  }
  return total;
}

const entries = (
  { resources = {} }: Container,
  side: (resources: ResourceRequirements) => Quantities,
): [string, string][] => Object.entries(side(resources) ?? {});

/** It counts as requested; as a limit only where the containers have one. */
function addOverhead(overhead: Quantities, requests: Map<string, string>, limits: Map<string, string>): void {
  for (const [name, quantity] of Object.entries(overhead ?? {})) {
    addAmount(requests, name, quantity);
    if (limits.has(name)) addAmount(limits, name, quantity);
  }
}

function countRequests(requests: Amounts, usage: Map<string, string>, isNative: (name: string) => boolean): void {
  for (const [name, quantity] of requests) {
    const isHugePages = name.startsWith(HUGE_PAGES);
    if (isHugePages || COMPUTE.some((compute) => compute === name)) usage.set(name, quantity);
    else if (!name.includes('/') || isNative(name)) continue;
    usage.set(`requests.${name}`, quantity);
  }
}

function countLimits(limits: Amounts, usage: Map<string, string>): void {
  for (const name of COMPUTE) {
    const quantity = limits.get(name);
    if (quantity !== undefined) usage.set(`limits.${name}`, quantity);
  }
}

/** Names that a quota has, with the containers that say nothing of them; both in their order. */
function missingOf(
  { spec: { containers, initContainers } = {} }: Pod,
  hard: Iterable<string>,
  isNative: (name: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const required = [...hard].filter((name) => REQUIRED.has(name)).sort();
  const missing = new Map<string, string[]>();
  if (required.length === 0) return missing;
  for (const container of [...(containers ?? []), ...(initContainers ?? [])]) {
    const said = podUsage({ spec: { containers: [container] } }, isNative);
    for (const name of required) {
      if (!said.has(name)) missing.set(name, [...(missing.get(name) ?? []), container.name ?? '']);
    }
  }
  return new Map(required.flatMap((name) => entryOf(name, missing.get(name))));
}

const entryOf = (name: string, of: readonly string[] | undefined): [string, string[]][] =>
  of === undefined ? [] : [[name, [...new Set(of)].sort()]];
