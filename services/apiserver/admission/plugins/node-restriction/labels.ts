import { getOwn } from '../../../../machinery/meta/own.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';

type Labels = Readonly<Record<string, string>>;

/** Keys that are set, changed or removed from one state to the next. */
export const changedLabels = (old: Labels, next: Labels): string[] =>
  [...new Set([...Object.keys(old), ...Object.keys(next)])].filter((key) => getOwn(old, key) !== getOwn(next, key));

/** Whether an agent may set, change or remove a label of that key. */
export type LabelPolicy = (key: string) => boolean;

/**
 * What an agent may decide about its node by labels: pods are sent to nodes by labels, so that it could draw to
 * itself what is meant for others (spec 2, 5.9). In the product's domains it may set the families that tell what the
 * machine is, elsewhere everything.
 * Labels of the restriction of nodes lie in the product's domains and in no family, so they are never its to set.
 */
export function labelPolicy({ labels, labelPrefixes, reservedDomains }: Vocabulary): LabelPolicy {
  const known = new Set<string>(FAMILY.map((label) => labels[label]));
  const own = [labelPrefixes.node, labelPrefixes.nodeAgent].map(domainOf);
  return (key) => {
    const domain = domainOf(key);
    if (!reservedDomains.some((reserved) => isWithin(domain, reserved))) return true;
    return known.has(key) || own.some((prefix) => isWithin(domain, prefix));
  };
}

/** The stable type of the machine lies below the prefix of nodes. */
const FAMILY = [
  'hostname',
  'os',
  'arch',
  'betaOs',
  'betaArch',
  'betaInstanceType',
  'region',
  'zone',
  'betaRegion',
  'betaZone',
] as const;

/** '' for a key without one. */
const domainOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
