import * as baseline from './baseline.js';
import * as restricted from './restricted.js';
import type { AnnotationWords, CheckedPod, Control, Violation } from './words.js';

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** A standard as it was in one release. */
export interface Standard {
  readonly level: Level;
  /** Minor number of the release; Infinity is the latest. */
  readonly minor: number;
}

/** e.g. `baseline:latest`, `restricted:v1.22` */
export const shownStandard = ({ level, minor }: Standard): string =>
  `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`;

/** Whether one forbids nothing that the other, of the same release, allows. */
export const isRelaxed = (next: Standard, old: Standard): boolean =>
  next.minor === old.minor && LEVELS.indexOf(next.level) <= LEVELS.indexOf(old.level);

interface Entry {
  readonly control: Control;
  /** Release from which on it is there. @default 0 */
  readonly since?: number;
  /** Release from which on it is not there any more. */
  readonly until?: number;
  /** Controls that it says more than. */
  readonly instead?: readonly Control[];
}

/** In the order in which violations are told. */
const BASELINE: readonly Entry[] = [
  { control: baseline.appArmorProfile },
  { control: baseline.capabilities },
  { control: baseline.hostNamespaces },
  { control: baseline.hostPathVolumes },
  { control: baseline.hostPorts },
  { control: baseline.privileged },
  { control: baseline.procMount },
  { control: baseline.seLinuxOptions },
  { control: baseline.seccompAnnotations, until: 19 },
  { control: baseline.seccompProfile, since: 19 },
  { control: baseline.sysctls },
  { control: baseline.windowsHostProcess },
];

const RESTRICTED: readonly Entry[] = [
  { control: restricted.allowPrivilegeEscalation, since: 8 },
  { control: restricted.restrictedCapabilities, since: 22, instead: [baseline.capabilities] },
  { control: restricted.restrictedVolumes, instead: [baseline.hostPathVolumes] },
  { control: restricted.runAsNonRoot },
  { control: restricted.runAsUser, since: 23 },
  { control: restricted.restrictedSeccomp, since: 19, instead: [baseline.seccompProfile] },
];

/** What a pod does against a standard, in the order of its controls. */
export function violations(standard: Standard, pod: CheckedPod, words: AnnotationWords): Violation[] {
  return controlsOf(standard).flatMap((control) => control(pod, words) ?? []);
}

function controlsOf({ level, minor }: Standard): Control[] {
  if (level === 'privileged') return [];
  const ofBaseline = BASELINE.filter((entry) => isThere(entry, minor));
  if (level === 'baseline') return ofBaseline.map(({ control }) => control);
  const more = RESTRICTED.filter((entry) => isThere(entry, minor));
  const replaced = new Set(more.flatMap(({ instead = [] }) => instead));
  return [...ofBaseline, ...more].map(({ control }) => control).filter((control) => !replaced.has(control));
}

const isThere = ({ since = 0, until = Infinity }: Entry, minor: number): boolean =>
  minor >= since && (minor < until || (minor === Infinity && until === Infinity));

/** e.g. `privileged (container "c" must not …), hostPort (…)` */
export const shownViolations = (all: readonly Violation[]): string =>
  all.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
