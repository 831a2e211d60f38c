import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkImmutable, eachEntry, IMMUTABLE } from '../checks/at.js';
import { checkPlainQuantity, compareQuantities } from '../checks/quantities.js';
import type { KindValidation, Problems } from '../types.js';

type Claim = ApiObject & PersistentVolumeClaim;
type ClaimSpec = PersistentVolumeClaimSpec;

const storageOf = ({ resources }: ClaimSpec = {}): string => resources?.requests?.['storage'] ?? '0';

/** `next` with what this write may change as it was: the volume, once; the size of a claim that has one. */
function unchanging(next: ClaimSpec, old: ClaimSpec, isBound: boolean): ClaimSpec {
  const { volumeName: _next, ...rest } = next;
  const volumeName = old.volumeName === undefined ? undefined : next.volumeName;
  const requests = next.resources?.requests;
  return {
    ...rest,
    ...(volumeName === undefined ? {} : { volumeName }),
    ...(isBound && requests !== undefined
      ? { resources: { ...next.resources, requests: { ...requests, storage: storageOf(old) } } }
      : {}),
  };
}

/** The class has been said in an annotation, and is now said where it belongs. */
const isClassMoved = (next: Claim, old: Claim, annotation: string): boolean => {
  const before = old.metadata.annotations?.[annotation];
  const after = next.metadata.annotations?.[annotation];
  return (
    before !== undefined &&
    old.spec?.storageClassName === undefined &&
    next.spec?.storageClassName === before &&
    (after === undefined || after === before)
  );
};

const checkUpdate =
  (annotation: string) =>
  (next: Claim, old: Claim, problems: Problems): void => {
    const at = At.root(problems);
    const { spec: oldSpec = {} } = old;
    let { spec = {} } = next;
    if (isClassMoved(next, old, annotation)) {
      const { storageClassName: _moved, ...rest } = spec;
      spec = rest;
    } else if (next.metadata.annotations?.[annotation] !== old.metadata.annotations?.[annotation]) {
      const value = next.metadata.annotations?.[annotation] ?? '';
      at.invalid(`metadata.annotations.${annotation}`, value, IMMUTABLE);
    }
    const isBound = next.status?.phase === 'Bound';
    if (!isDeepStrictEqual(unchanging(spec, oldSpec, isBound), unchanging(oldSpec, oldSpec, isBound))) {
      at.forbidden('spec', 'spec is immutable after creation except resources.requests for bound claims');
    }
    if (compareQuantities(storageOf(spec), storageOf(oldSpec)) < 0) {
      at.forbidden('spec.resources.requests.storage', 'field can not be less than previous value');
    }
    checkImmutable(at, 'volumeMode', spec.volumeMode, oldSpec.volumeMode);
  };

export const persistentVolumeClaims = ({ annotations }: Vocabulary): KindValidation<PersistentVolumeClaim> => ({
  update: checkUpdate(annotations.betaStorageClass),
  parts: {
    status: ({ status }, _old, problems) => {
      eachEntry(At.root(problems, 'status'), 'capacity', status?.capacity, (quantity, _resource, at) =>
        checkPlainQuantity(at, '', quantity),
      );
    },
  },
});
