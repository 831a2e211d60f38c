import { builtInTypes } from '../client/rest/built-in-types.js';
import { isApiError, type ResourceClient } from '../client/rest/client.js';
import { keyOf, nameOf, type AnyObject, type Live } from '../client/rest/resource-type.js';
import { retryOnConflict } from '../client/rest/retry-on-conflict.js';
import type { Controller, ControllerDeps } from '../controllers/controller.js';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../machinery/types/generated/core.v1.js';

/* Claims and volumes that are deleted stay for as long as they are used (spec 2, 4.4: StorageObjectInUseProtection). */

const WORKERS = 5;
/** Index of pods by `namespace/name` of the claims that they use. */
const BY_CLAIM = 'claim';

/** Keeps the finalizer of claims while pods use them. A key is `namespace/name` of a claim. */
export function openClaimProtection(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const types = builtInTypes(vocabulary);
  const finalizer = vocabulary.finalizers.pvcProtection;
  const claims = informers.of(types.persistentVolumeClaims);
  const pods = informers.of(types.pods);
  pods.index(BY_CLAIM, claimsOf);
  const look = (claim: Live<PersistentVolumeClaim>): void => queue.add(keyOf(claim.metadata));
  const lookAtClaims = (pod: Live<Pod>): void => {
    for (const key of claimsOf(pod)) queue.add(key);
  };
  claims.handle({ added: look, updated: look });
  pods.handle({ deleted: lookAtClaims, updated: (_pod, old) => lookAtClaims(old) });

  const isUsed = async (key: string, signal: AbortSignal): Promise<boolean> => {
    if (pods.store.by(BY_CLAIM, key).length > 0) return true;
    const { namespace = '' } = nameOf(key);
    // The informer may not know yet of a pod that was placed on a node a moment ago.
    const { items } = await client.resource(types.pods).list({ namespace }, signal);
    return items.some((pod) => claimsOf(pod).includes(key));
  };
  return {
    informers: [claims, pods],
    workers: WORKERS,
    reconcile: async (key, signal) => {
      const claim = claims.store.get(key);
      if (claim === undefined || !isWrong(claim, finalizer)) return undefined;
      const mayGo = claim.metadata.deletionTimestamp !== undefined;
      if (mayGo && (await isUsed(key, signal))) return undefined;
      await toggle(client.resource(types.persistentVolumeClaims), claim, finalizer, signal);
      return undefined;
    },
  };
}

/**
 * Claims that a pod uses, of its own and of volumes that live as long as it. Pods without a node use nothing: a claim that is
 * being deleted keeps them from starting.
 */
export function claimsOf({ metadata: { namespace = '', name }, spec }: Live<Pod>): readonly string[] {
  if ((spec?.nodeName ?? '') === '') return [];
  return (spec?.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName ?? ''}`];
    return ephemeral === undefined ? [] : [`${namespace}/${name}-${volume ?? ''}`];
  });
}

/** Keeps the finalizer of volumes while they are bound. A key is the name of a volume. */
export function openVolumeProtection(_: object, { client, informers, vocabulary, queue }: ControllerDeps): Controller {
  const types = builtInTypes(vocabulary);
  const finalizer = vocabulary.finalizers.pvProtection;
  const volumes = informers.of(types.persistentVolumes);
  const look = (volume: Live<PersistentVolume>): void => queue.add(volume.metadata.name);
  volumes.handle({ added: look, updated: look });
  return {
    informers: [volumes],
    workers: WORKERS,
    reconcile: async (name, signal) => {
      const volume = volumes.store.get(name);
      if (volume === undefined || !isWrong(volume, finalizer)) return undefined;
      if (volume.metadata.deletionTimestamp !== undefined && volume.status?.phase === 'Bound') return undefined;
      await toggle(client.resource(types.persistentVolumes), volume, finalizer, signal);
      return undefined;
    },
  };
}

/** Whether an object lacks its finalizer, or is being deleted and has it still. */
const isWrong = ({ metadata: { finalizers = [], deletionTimestamp } }: Live<AnyObject>, finalizer: string): boolean =>
  finalizers.includes(finalizer) === (deletionTimestamp !== undefined);

/** Takes the finalizer off an object that is being deleted, and gives it to another. */
async function toggle<T extends AnyObject>(
  objects: ResourceClient<T>,
  { metadata }: Live<T>,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  const change = (present: Live<T>): T | undefined => {
    const { finalizers = [], deletionTimestamp, uid } = present.metadata;
    const isSame = uid === metadata.uid && deletionTimestamp === metadata.deletionTimestamp;
    if (!isSame || !isWrong(present, finalizer)) return undefined;
    const next =
      deletionTimestamp === undefined ? [...finalizers, finalizer] : finalizers.filter((it) => it !== finalizer);
    return { ...present, metadata: { ...present.metadata, finalizers: next } };
  };
  try {
    await retryOnConflict(objects, nameOf(keyOf(metadata)), change, {}, signal);
  } catch (err) {
    if (!isApiError(err, 'NotFound')) throw err;
  }
}
