import { containersOf, type Container, type PodSpec } from '../../pods/pod.js';

/** A pod, or the template of pods. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** Why a pod is against a standard. */
export interface Violation {
  /** e.g. `hostPath volumes` */
  readonly reason: string;
  /** e.g. `volume "v"` */
  readonly detail: string;
}

/** One control of a standard: what a pod does against it. */
export type Control = (pod: CheckedPod, words: AnnotationWords) => Violation | undefined;

/** Beginnings of the annotations that older versions of the controls look at. */
export interface AnnotationWords {
  readonly appArmor: string;
  readonly seccompOfPod: string;
  readonly seccompOfContainer: string;
}

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many);

/** `"a", "b"` */
export const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** The same, each once, in their order. */
export const sorted = (names: readonly string[]): string => quoted([...new Set(names)].sort());

/** `container "a"` or `containers "a", "b"` */
export const containersNamed = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`;

/** Names of the containers that are as `is` says. */
export const namesWhere = (spec: PodSpec, is: (container: Container) => boolean): string[] =>
  containersOf(spec)
    .filter(({ container }) => is(container))
    .map(({ container: { name = '' } }) => name);

/** `pod and containers "a", "b"`, of those who set something that they should not. */
export function setters(byPod: boolean, names: readonly string[]): string {
  return [...(byPod ? ['pod'] : []), ...(names.length === 0 ? [] : [containersNamed(names)])].join(' and ');
}

/** A violation by whatever containers are as `is` says. */
export const byContainers =
  (reason: string, is: (container: Container) => boolean, does: string): Control =>
  ({ spec }) => {
    const names = namesWhere(spec, is);
    return names.length === 0 ? undefined : { reason, detail: `${containersNamed(names)} ${does}` };
  };
