import { field, type FieldError } from '../../../machinery/meta/status.js';
import { shownList } from '../validation/checks/at.js';
import { parseIp, type IpFamily } from './ip.js';
import { hasClusterIp, isHeadless, type ServiceSpec } from './service-spec.js';

const SINGLE = 'SingleStack';
const PREFER = 'PreferDualStack';
const REQUIRE = 'RequireDualStack';

const otherThan = (family: string): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/**
 * Works out which families of addresses a service has, from what it says of families, policy and addresses.
 *
 * @param next Changed in place. Validated: what it says is well-formed and does not contradict itself.
 * @param served The families that there are ranges of, the first of which is the one of services that do not say.
 * @returns What is wrong. Nothing may be chosen then.
 */
export function settleFamilies(
  next: ServiceSpec,
  old: ServiceSpec | undefined,
  served: readonly [IpFamily, ...IpFamily[]],
): FieldError[] {
  if (!hasClusterIp(next) || staysAsPreferred(next, old)) return [];
  next.ipFamilyPolicy ??= defaultPolicy(next, old);
  if (old !== undefined && next.ipFamilyPolicy === SINGLE) keepFirst(next, old);
  const problems = [...policyProblems(next, old), ...familiesOfAddresses(next, served)];
  if (problems.length > 0) return problems;
  const families = (next.ipFamilies ??= []);
  const free = isHeadless(next) && Object.keys(next.selector ?? {}).length === 0;
  if (!free) problems.push(...notServed(next, served));
  if (problems.length > 0) return problems;
  if (families.length === 0) families.push(served[0]);
  // Who manages the endpoints of a headless service himself may have both families whatever the ranges.
  const both = free || served.length > 1;
  if (both && next.ipFamilyPolicy !== SINGLE && families.length === 1) families.push(otherThan(families[0] ?? ''));
  return [];
}

/**
 * A service that prefers both families keeps what it has until it is changed: it does not follow the ranges, which
 * its operators may change.
 */
function staysAsPreferred(next: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old === undefined || next.type !== old.type || next.ipFamilyPolicy !== PREFER) return false;
  if (old.ipFamilyPolicy !== undefined && old.ipFamilyPolicy !== PREFER) return false;
  return same(next.clusterIPs, old.clusterIPs) && same(next.ipFamilies, old.ipFamilies);
}

export const same = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

function defaultPolicy(next: ServiceSpec, old: ServiceSpec | undefined): string {
  if (old?.ipFamilyPolicy !== undefined) return old.ipFamilyPolicy;
  return isHeadless(next) && Object.keys(next.selector ?? {}).length === 0 ? REQUIRE : SINGLE;
}

/** A write that asks for one family, and leaves the rest as it was, removes the second one. */
function keepFirst(next: ServiceSpec, old: ServiceSpec): void {
  if (same(next.clusterIPs, old.clusterIPs)) next.clusterIPs?.splice(1);
  if (same(next.ipFamilies, old.ipFamilies)) next.ipFamilies?.splice(1);
}

const POLICY = 'spec.ipFamilyPolicy';

function policyProblems(next: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const { ipFamilyPolicy: policy, clusterIPs = [], ipFamilies = [] } = next;
  if (policy === SINGLE) {
    const why = (what: string): string => `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`; // prettier-ignore
    return [
      ...(clusterIPs.length === 2 ? [field.invalid(POLICY, policy, why('cluster IPs'))] : []),
      ...(ipFamilies.length === 2 ? [field.invalid(POLICY, policy, why('IP families'))] : []),
    ];
  }
  const isReduced = (now: readonly string[], before: readonly string[] = []): boolean =>
    now.length > 0 && now.length < before.length;
  const why = (what: string): string => `must be 'SingleStack' to release the secondary ${what}`;
  return [
    ...(isReduced(clusterIPs, old?.clusterIPs) ? [field.invalid(POLICY, policy, why('cluster IP'))] : []),
    ...(isReduced(ipFamilies, old?.ipFamilies) ? [field.invalid(POLICY, policy, why('IP family'))] : []),
  ];
}

/** Addresses that were asked for say which family they are of. */
function familiesOfAddresses(next: ServiceSpec, served: readonly IpFamily[]): FieldError[] {
  if (isHeadless(next)) return [];
  const families = (next.ipFamilies ??= []);
  const problems: FieldError[] = [];
  for (const [i, text] of (next.clusterIPs ?? []).entries()) {
    const family = parseIp(text)?.family;
    if (family === undefined || i < families.length) continue;
    if (served.includes(family)) families.push(family);
    else problems.push(wrongAddress(`spec.clusterIPs[${i}]`, next, `${family} is not configured on this cluster`));
  }
  return problems;
}

function notServed({ ipFamilyPolicy, ipFamilies = [] }: ServiceSpec, served: readonly string[]): FieldError[] {
  const problems = ipFamilies.flatMap((family, i) =>
    served.includes(family) ? [] : [field.invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
  );
  if (ipFamilyPolicy === REQUIRE && served.length < 2) {
    problems.unshift(field.invalid(POLICY, REQUIRE, 'this cluster is not configured for dual-stack services'));
  }
  return problems;
}

/** Something about the list of addresses, shown as clients know it. */
export const wrongAddress = (path: string, { clusterIPs = [] }: ServiceSpec, why: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: path,
  message: `Invalid value: ${shownList(clusterIPs)}: ${why}`,
});
