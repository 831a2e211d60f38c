import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Container, Pod, SeccompProfile } from '../../../../machinery/types/generated/core.v1.js';
import { At, each } from '../checks/at.js';
import type { Problems } from '../types.js';

/** Names of the annotations that said what `seccompProfile` says today. */
export interface SeccompAnnotations {
  readonly seccompOfPod: string;
  /** What the names for containers begin with. */
  readonly seccompOfContainer: string;
}

export const LOCALHOST = 'localhost/';

/** The profile that an annotation means; undefined for what means none. */
export function profileOf(annotation: string): SeccompProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default' || annotation === 'docker/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCALHOST) || annotation === LOCALHOST) return undefined;
  return { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST.length) };
}

/** What the annotations of a new pod say of seccomp: each is a profile, and the one that the pod and its containers name. */
export const seccompCheck =
  ({ seccompOfPod, seccompOfContainer }: SeccompAnnotations) =>
  (pod: ApiObject & Pod, problems: Problems): void => {
    const { annotations = {} } = pod.metadata;
    const said = Object.entries(annotations).filter(
      ([name]) => name === seccompOfPod || name.startsWith(seccompOfContainer),
    );
    if (said.length === 0) return;
    const at = At.root(problems, 'metadata').child('annotations');
    for (const [name, value] of said) {
      if (profileOf(value) === undefined && value !== LOCALHOST)
        at.invalid(name, value, 'must be a valid seccomp profile');
    }
    const { spec = {} } = pod;
    const specAt = At.root(problems, 'spec');
    const match = (name: string, holderAt: At, profile: SeccompProfile | undefined): void => {
      const meant = Object.hasOwn(annotations, name) ? profileOf(annotations[name] ?? '') : undefined;
      if (meant === undefined || profile === undefined) return;
      const profileAt = holderAt.child('securityContext').child('seccompProfile');
      if (meant.type !== profile.type) profileAt.forbidden('type', MISMATCH);
      else if (meant.localhostProfile !== profile.localhostProfile) profileAt.forbidden('localhostProfile', MISMATCH);
    };
    match(seccompOfPod, specAt, spec.securityContext?.seccompProfile);
    const ofContainer = ({ name = '', securityContext }: Container, containerAt: At): void =>
      match(seccompOfContainer + name, containerAt, securityContext?.seccompProfile);
    for (const list of LISTS) each(specAt, list, spec[list], ofContainer);
  };

const MISMATCH = 'seccomp type in annotation and field must match';
const LISTS = ['initContainers', 'containers'] as const;
