import { containersOf, type PlacedContainer, type PodSpec } from '../../pods/pod.js';

/** Secrets that pods of an account may use, where it says that they may use no others. */
export interface MountableSecrets {
  readonly secrets: ReadonlySet<string>;
  readonly pullSecrets: ReadonlySet<string>;
}

type References = readonly { readonly name?: string }[];

export const mountableSecrets = (secrets: References, pullSecrets: References): MountableSecrets => ({
  secrets: new Set(secrets.map(({ name = '' }) => name)),
  pullSecrets: new Set(pullSecrets.map(({ name = '' }) => name)),
});

/** The first use of a secret that an account does not have, with `%s` for which account that is; '' when there is none. */
export function unmountable(spec: PodSpec, mountable: MountableSecrets): string {
  const volume = (spec.volumes ?? [])
    .flatMap(({ secret }) => (secret == null ? [] : [secret.secretName ?? '']))
    .find((name) => !mountable.secrets.has(name));
  if (volume !== undefined) return `volume with ${unreferenced(volume)}`;
  const inContainer = inContainers(
    containersOf(spec).filter(({ list }) => list !== 'ephemeralContainers'),
    mountable,
  );
  if (inContainer !== '') return inContainer;
  for (const [i, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    if (mountable.pullSecrets.has(name)) continue;
    return `imagePullSecrets[${i}].name="${name}" is not allowed %s does not reference that imagePullSecret`;
  }
  return '';
}

/** The same, of the ephemeral containers alone. */
export const unmountableEphemeral = (spec: PodSpec, mountable: MountableSecrets): string =>
  inContainers(
    containersOf(spec).filter(({ list }) => list === 'ephemeralContainers'),
    mountable,
  );

function inContainers(containers: readonly PlacedContainer[], { secrets }: MountableSecrets): string {
  for (const { container, kind } of containers) {
    const label = `${kind} ${container.name ?? ''} with`;
    for (const { name = '', valueFrom } of container.env ?? []) {
      const secret = valueFrom?.secretKeyRef?.name;
      if (secret !== undefined && !secrets.has(secret))
        return `${label} envVar ${name} referencing ${unreferenced(secret)}`;
    }
    for (const { secretRef } of container.envFrom ?? []) {
      const secret = secretRef?.name;
      if (secret !== undefined && !secrets.has(secret)) return `${label} envFrom referencing ${unreferenced(secret)}`;
    }
  }
  return '';
}

const unreferenced = (secret: string): string =>
  `secret.secretName="${secret}" is not allowed %s does not reference that secret`;
