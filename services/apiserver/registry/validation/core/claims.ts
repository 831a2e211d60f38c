import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import { checkImmutable, eachEntry, IMMUTABLE } from '../checks/members.js';
import type { Quantities } from '../checks/quantities.js';
import { checkPlainQuantity, compareQuantities } from '../checks/quantities.js';
import type { KindValidation, Problems } from '../types.js';
import type { ClaimSpec } from '../volumes/claim-spec.js';
import { checkClaimSpec } from '../volumes/claim-spec.js';

interface ClaimStatus {
  readonly phase?: string;
  readonly capacity?: Quantities;
}

const specOf = (claim: ApiObject): ClaimSpec => claim['spec'] ?? {};
const statusOf = (claim: ApiObject): ClaimStatus => claim['status'] ?? {};
const storageOf = ({ resources }: ClaimSpec): string => resources?.requests?.['storage'] ?? '0';

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
const isClassMoved = (next: ApiObject, old: ApiObject, annotation: string): boolean => {
  const before = old.metadata.annotations?.[annotation];
  const after = next.metadata.annotations?.[annotation];
  return (
    before !== undefined &&
    specOf(old).storageClassName === undefined &&
    specOf(next).storageClassName === before &&
    (after === undefined || after === before)
  );
};

const checkUpdate =
  (annotation: string): NonNullable<KindValidation['update']> =>
  (next: ApiObject, old: ApiObject, problems: Problems) => {
    const at = At.root(problems);
    const oldSpec = specOf(old);
    let spec = specOf(next);
    if (isClassMoved(next, old, annotation)) {
      const { storageClassName: _moved, ...rest } = spec;
      spec = rest;
    } else if (next.metadata.annotations?.[annotation] !== old.metadata.annotations?.[annotation]) {
      const value = next.metadata.annotations?.[annotation] ?? '';
      at.invalid(`metadata.annotations.${annotation}`, value, IMMUTABLE);
    }
    const isBound = statusOf(next).phase === 'Bound';
    if (!isDeepStrictEqual(unchanging(spec, oldSpec, isBound), unchanging(oldSpec, oldSpec, isBound))) {
      at.forbidden('spec', 'spec is immutable after creation except resources.requests for bound claims');
    }
    if (compareQuantities(storageOf(spec), storageOf(oldSpec)) < 0) {
      at.forbidden('spec.resources.requests.storage', 'field can not be less than previous value');
    }
    checkImmutable(at, 'volumeMode', spec.volumeMode, oldSpec.volumeMode);
  };

export const persistentVolumeClaims = ({ annotations }: Vocabulary): KindValidation => ({
  object: (claim, problems) => checkClaimSpec(At.root(problems, 'spec'), specOf(claim)),
  update: checkUpdate(annotations.betaStorageClass),
  parts: {
    status: (next, _old, problems) => {
      eachEntry(At.root(problems, 'status'), 'capacity', statusOf(next).capacity, (quantity, _resource, at) =>
        checkPlainQuantity(at, '', quantity),
      );
    },
  },
});
