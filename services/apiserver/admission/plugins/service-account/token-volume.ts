import { generateName } from '../../../../machinery/meta/random.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type Container, type PodSpec } from '../../pods/pod.js';

/** The names that a token's volume has in one vocabulary. */
export interface TokenWords {
  /** e.g. `platform-api-access-`; five random letters follow. */
  readonly volumePrefix: string;
  readonly mountPath: string;
  readonly rootCaConfigMap: string;
}

export const tokenWords = (vocabulary: Vocabulary): TokenWords => ({
  volumePrefix: vocabulary.apiAccessVolumePrefix,
  mountPath: vocabulary.serviceAccountMountPath,
  rootCaConfigMap: vocabulary.rootCaConfigMap,
});

/** Of the account's token: an hour, and some seconds by which servers know that nobody chose it. */
const TOKEN_SECONDS = 3607;
/** 0644 */
const FILE_MODE = 420;

/** Gives every container that has nothing at the path of tokens one that is bound to the pod. */
export function mountToken(spec: PodSpec, words: TokenWords): void {
  const { volumePrefix, mountPath } = words;
  const without = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({ volumeMounts = [] }) => !volumeMounts.some((mount) => mount.mountPath === mountPath),
  );
  if (without.length === 0) return;
  const existing = (spec.volumes ?? []).find((volume) => volume.name?.startsWith(volumePrefix))?.name;
  const name = existing ?? generateName(volumePrefix);
  for (const container of without) mount(container, name, mountPath);
  if (existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, words)];
}

function mount(container: Container, name: string, mountPath: string): void {
  container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
}

const tokenVolume = (name: string, { rootCaConfigMap }: TokenWords): NonNullable<PodSpec['volumes']>[number] => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: rootCaConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: FILE_MODE,
  },
});
