import type { ServiceSpec } from '../../../../machinery/types/generated/core.v1.js';
import { type At, shownList, checkRule, each, IMMUTABLE } from '../checks/at.js';
import { ipAddress, ipVersion } from '../checks/text.js';

const NONE = 'None';
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const SINGLE_STACK = 'SingleStack';

const isHeadless = (ips: readonly string[]): boolean => ips.length === 1 && ips[0] === NONE;

/** Whether a service has a name only, which leads to what is behind it. */
export const isHeadlessService = (spec: ServiceSpec): boolean => isHeadless(addressesOf(spec));

/** The addresses however they are given: the first has a member of its own, which may stand alone. */
const addressesOf = ({ clusterIP = '', clusterIPs = [] }: ServiceSpec): readonly string[] =>
  clusterIP === '' || clusterIPs.length > 0 ? clusterIPs : [clusterIP];

function checkFamilies(at: At, { ipFamilies, ipFamilyPolicy }: ServiceSpec): void {
  const seen = new Set<string>();
  each(at, 'ipFamilies', ipFamilies, (family, familyAt) => {
    if (!FAMILIES.includes(family)) familyAt.notSupported('', family, FAMILIES);
    if (seen.has(family)) familyAt.duplicate('', family);
    seen.add(family);
  });
  if (ipFamilyPolicy !== undefined && !FAMILY_POLICIES.includes(ipFamilyPolicy)) {
    at.notSupported('ipFamilyPolicy', ipFamilyPolicy, FAMILY_POLICIES);
  }
}

/** @returns Whether each address is one, so that it makes sense to look at them together. */
function checkEachIp(at: At, ips: readonly string[]): boolean {
  const before = at.problems.length;
  const listAt = at.child('clusterIPs');
  ips.forEach((ip, i) => {
    if (i > 0 || ip !== NONE) checkRule(listAt.index(i), '', ip, ipAddress);
    else if (ips.length > 1) at.invalidShown('clusterIPs', shownList(ips), "'None' must be the first and only value");
  });
  const allRight = at.problems.length === before;
  if (ips.length > 2) at.invalidShown('clusterIPs', shownList(ips), 'may only hold up to 2 values');
  return allRight;
}

/** Rules for cluster addresses and families; services without them are checked elsewhere. */
export function checkClusterIps(at: At, spec: ServiceSpec): void {
  if (spec.type === 'ExternalName') return;
  const { clusterIP = '', clusterIPs = [], ipFamilies = [] } = spec;
  const ips = addressesOf(spec);
  if (clusterIPs.length > 0) {
    if (clusterIP === '') {
      at.invalidShown('clusterIPs', shownList(clusterIPs), 'must be empty when `clusterIP` is not specified');
    } else if (clusterIPs[0] !== clusterIP) {
      at.invalidShown('clusterIPs', shownList(clusterIPs), 'first value must match `clusterIP`');
    }
  }
  checkFamilies(at, spec);
  if (!checkEachIp(at, ips)) return;
  if (ips.length > 1 && new Set(ips.map(ipVersion)).size < ips.length) {
    at.invalidShown('clusterIPs', shownList(ips), 'may specify no more than one IP for each IP family');
  }
  if (isHeadless(ips)) return;
  ips.forEach((ip, i) => {
    const family = ipFamilies[i];
    if (family === undefined || family === `IPv${ipVersion(ip)}`) return;
    const why = `expected an ${family} value as indicated by \`ipFamilies[${i}]\``;
    at.child('clusterIPs').index(i).invalid('', ip, why);
  });
}

const ONCE = 'may not change once set';

function checkIpsKept(at: At, next: ServiceSpec, old: ServiceSpec): void {
  const ips = addressesOf(next);
  const oldIps = addressesOf(old);
  // Left out they stay as they are; and a service without address may get one.
  if (ips.length === 0 || oldIps.length === 0 || (isHeadless(ips) && isHeadless(oldIps))) return;
  const compared = ips.length === oldIps.length ? oldIps.length : 1;
  for (let i = 0; i < compared; i++) {
    if (ips[i] !== oldIps[i]) at.invalidShown(`clusterIPs[${i}]`, shownList(ips), ONCE);
  }
  if (ips.length < oldIps.length) checkReleased(at, next, 'clusterIP');
}

function checkFamiliesKept(at: At, next: ServiceSpec, old: ServiceSpec): void {
  const { ipFamilies: families = [] } = next;
  const { ipFamilies: oldFamilies = [] } = old;
  if (families.length === 0 || oldFamilies.length === 0) return;
  if (isHeadless(addressesOf(next)) || isHeadless(addressesOf(old))) return;
  const compared = families.length === oldFamilies.length ? oldFamilies.length : 1;
  for (let i = 0; i < compared; i++) {
    if (families[i] !== oldFamilies[i]) at.invalidShown('ipFamilies[0]', shownList(families), ONCE);
  }
  if (families.length < oldFamilies.length) checkReleased(at, next, 'ipFamily');
}

function checkReleased(at: At, { ipFamilyPolicy }: ServiceSpec, what: string): void {
  if (ipFamilyPolicy === SINGLE_STACK) return;
  at.invalid('ipFamilyPolicy', ipFamilyPolicy, `must be set to 'SingleStack' when releasing the secondary ${what}`);
}

/** Whether machines say if they have something to send traffic to. */
export const isHealthChecked = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

/** The target of traffic does not change. */
export function checkServiceUpdate(at: At, next: ServiceSpec, old: ServiceSpec): void {
  if (next.type !== 'ExternalName' && old.type !== 'ExternalName') {
    checkIpsKept(at, next, old);
    checkFamiliesKept(at, next, old);
  }
  if (next.type === 'LoadBalancer' && old.type === 'LoadBalancer' && next.loadBalancerClass !== old.loadBalancerClass) {
    at.invalid('loadBalancerClass', next.loadBalancerClass, ONCE);
  }
  if (isHealthChecked(next) && isHealthChecked(old) && next.healthCheckNodePort !== old.healthCheckNodePort) {
    at.forbidden('healthCheckNodePort', IMMUTABLE);
  }
}
