import { getOwn, isJsonObject } from '../../../machinery/meta/own.js';

/** Kinds of objects that an agent needs because of a pod or volume of its node. */
export type ReferencedKind = 'secret' | 'configmap' | 'claim' | 'serviceaccount';

/** `<kind>/<namespace>/<name>` */
export type Reference = `${ReferencedKind}/${string}/${string}`;

export const reference = (kind: ReferencedKind, namespace: string, name: string): Reference =>
  `${kind}/${namespace}/${name}`;

/** The member at a path of names; `[]` stands for every item of a list. Nothing of another shape is followed. */
function* at(value: unknown, path: readonly string[]): Generator {
  const [step, ...rest] = path;
  if (step === undefined) {
    yield value;
  } else if (step === '[]') {
    if (Array.isArray(value)) for (const item of value as unknown[]) yield* at(item, rest);
  } else if (isJsonObject(value)) {
    yield* at(getOwn(value, step), rest);
  }
}

const paths = (...written: readonly string[]): readonly (readonly string[])[] =>
  written.map((path) => path.replaceAll('[]', '.[]').split('.'));

const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers'];
const inContainers = (path: string): string[] => CONTAINERS.map((list) => `spec.${list}[].${path}`);

/** Where pods name what they need, besides claims that are made for them. */
const OF_PODS: Readonly<Record<ReferencedKind, readonly (readonly string[])[]>> = {
  serviceaccount: paths('spec.serviceAccountName'),
  claim: paths('spec.volumes[].persistentVolumeClaim.claimName'),
  configmap: paths(
    ...inContainers('envFrom[].configMapRef.name'),
    ...inContainers('env[].valueFrom.configMapKeyRef.name'),
    'spec.volumes[].configMap.name',
    'spec.volumes[].projected.sources[].configMap.name',
  ),
  secret: paths(
    'spec.imagePullSecrets[].name',
    ...inContainers('envFrom[].secretRef.name'),
    ...inContainers('env[].valueFrom.secretKeyRef.name'),
    'spec.volumes[].secret.secretName',
    'spec.volumes[].projected.sources[].secret.name',
    'spec.volumes[].azureFile.secretName',
    'spec.volumes[].csi.nodePublishSecretRef.name',
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
      (volume) => `spec.volumes[].${volume}.secretRef.name`,
    ),
  ),
};

/** A pod's node and the objects that it names. */
export interface PodReferences {
  /** '' while it is bound to none. */
  readonly node: string;
  readonly references: ReadonlySet<Reference>;
}

const NONE: ReadonlySet<Reference> = new Set();

/**
 * @param mirrorAnnotation Pods with it stand for what runs on a node by the node's own word: they give it no rights.
 */
export function podReferences(pod: unknown, mirrorAnnotation: string): PodReferences {
  const node = text(pod, ['spec', 'nodeName']);
  if (node === '' || isMirror(pod, mirrorAnnotation)) return { node, references: NONE };
  return { node, references: namedBy(pod) };
}

/** All that a pod names, whatever it is and wherever it runs. */
export function namedBy(pod: unknown): ReadonlySet<Reference> {
  const namespace = text(pod, ['metadata', 'namespace']);
  const references = new Set<Reference>();
  for (const [kind, places] of Object.entries(OF_PODS) as [ReferencedKind, (typeof OF_PODS)['claim']][]) {
    for (const path of places) {
      for (const name of at(pod, path)) if (isName(name)) references.add(reference(kind, namespace, name));
    }
  }
  for (const claim of ownClaims(pod)) references.add(reference('claim', namespace, claim));
  return references;
}

/** Whether a pod stands for what runs on a node by the node's own word. */
export const isMirror = (pod: unknown, annotation: string): boolean =>
  [...at(pod, ['metadata', 'annotations'])].some((all) => isJsonObject(all) && getOwn(all, annotation) !== undefined);

/** Claims that are made for a pod are named after it and after its volume. */
function* ownClaims(pod: unknown): Generator<string> {
  const name = text(pod, ['metadata', 'name']);
  for (const volume of at(pod, ['spec', 'volumes', '[]'])) {
    if (!isJsonObject(volume) || !isJsonObject(getOwn(volume, 'ephemeral'))) continue;
    yield `${name}-${text(volume, ['name'])}`;
  }
}

/** A volume's claim and the secrets that it names. */
export interface VolumeReferences {
  /** undefined while it is not claimed. */
  readonly claim: Reference | undefined;
  /** Secrets that a node needs to use it. */
  readonly secrets: ReadonlySet<Reference>;
}

const VOLUME_SECRETS: readonly (readonly string[])[] = paths(
  'csi.nodePublishSecretRef',
  'csi.nodeStageSecretRef',
  'csi.nodeExpandSecretRef',
  ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map((volume) => `${volume}.secretRef`),
);

/** Secrets for controllers, which attach and resize, are not for nodes. */
export function volumeReferences(volume: unknown): VolumeReferences {
  const spec = [...at(volume, ['spec'])][0];
  const [namespace, name] = [text(spec, ['claimRef', 'namespace']), text(spec, ['claimRef', 'name'])];
  if (namespace === '' || name === '') return { claim: undefined, secrets: NONE };
  const secrets = new Set<Reference>();
  for (const path of VOLUME_SECRETS) {
    for (const ref of at(spec, path)) {
      const secret = text(ref, ['name']);
      if (secret !== '') secrets.add(reference('secret', text(ref, ['namespace']) || namespace, secret));
    }
  }
  const ofFile = text(spec, ['azureFile', 'secretName']);
  if (ofFile !== '')
    secrets.add(reference('secret', text(spec, ['azureFile', 'secretNamespace']) || namespace, ofFile));
  return { claim: reference('claim', namespace, name), secrets };
}

/** The node that a volume is attached to; '' for none. */
export const attachedNode = (attachment: unknown): string => text(attachment, ['spec', 'nodeName']);

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

function text(value: unknown, path: readonly string[]): string {
  const [found] = [...at(value, path)];
  return typeof found === 'string' ? found : '';
}
