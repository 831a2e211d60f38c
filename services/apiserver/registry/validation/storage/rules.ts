import { isDeepStrictEqual } from 'node:util';
import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import type * as core from '../../../../machinery/types/generated/core.v1.js';
import type * as storage from '../../../../machinery/types/generated/storage.v1.js';
import { At, checkImmutable, checkRule, each, IMMUTABLE } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkInline } from '../core/persistent-volumes.js';
import type { KindValidation, TypeRules } from '../types.js';

const MAX_NODE_ID = 192;

function checkNodeDriver(at: At, { nodeID = '', topologyKeys }: storage.CSINodeDriver): void {
  if (Buffer.byteLength(nodeID) > MAX_NODE_ID) {
    at.invalid('nodeID', nodeID, `must be ${MAX_NODE_ID} characters or less`);
  }
  const seen = new Set<string>();
  for (const key of topologyKeys ?? []) {
    if (key === '') at.required('');
    if (seen.has(key)) at.duplicate('', key);
    seen.add(key);
    checkRule(at, '', key, qualifiedName);
  }
}

const MAX_PARAMETERS = 512;
const MAX_BYTES = 256 * 1024;

const sizeOf = (map: StringMap): number =>
  Object.entries(map).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

function checkParameters(at: At, parameters: StringMap): void {
  const keys = Object.keys(parameters);
  if (keys.length > MAX_PARAMETERS) {
    at.tooLong('parameters', MAX_PARAMETERS);
    return;
  }
  for (const key of keys) if (key === '') at.invalid('parameters', key, 'field can not be empty.');
  if (sizeOf(parameters) > MAX_BYTES) at.tooLong('parameters', MAX_BYTES);
}

type Term = readonly core.TopologySelectorLabelRequirement[];

/** The identity of a term, whatever the order of its members. */
const meaningOf = (term: Term): string =>
  JSON.stringify(term.map(({ key, values }) => [key, [...new Set(values)].sort()]).sort(byKey));

const byKey = ([a = '']: readonly unknown[], [b = '']: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

function checkStorageClass(
  at: At,
  { provisioner = '', parameters = {}, allowedTopologies }: storage.StorageClass,
): void {
  if (provisioner !== '') checkRule(at, 'provisioner', provisioner.toLowerCase(), qualifiedName);
  checkParameters(at, parameters);
  const meanings = new Set<string>();
  each(at, 'allowedTopologies', allowedTopologies, ({ matchLabelExpressions: term = [] }, termAt) => {
    const meaning = meaningOf(term);
    if (meanings.has(meaning)) termAt.duplicate('matchLabelExpressions', '');
    meanings.add(meaning);
  });
}

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function checkSource(at: At, { persistentVolumeName: name, inlineVolumeSpec }: storage.VolumeAttachmentSource): void {
  if (name !== undefined && inlineVolumeSpec !== undefined) at.forbidden('', ONE_SOURCE);
  else if (name === '') at.required('persistentVolumeName', 'must specify non empty persistentVolumeName');
  else if (inlineVolumeSpec !== undefined) checkInline(at.child('inlineVolumeSpec'), inlineVolumeSpec);
  else if (name === undefined) at.required('', ONE_SOURCE);
}

const MAX_MESSAGE_BYTES = 1024;

export const storageRules: TypeRules<storage.Types> = {
  CSINodeDriver: checkNodeDriver,
  StorageClass: checkStorageClass,
  VolumeAttachmentSource: { first: checkSource },
  VolumeAttachmentStatus: (at, { attachmentMetadata = {} }) => {
    if (sizeOf(attachmentMetadata) > MAX_BYTES) at.tooLong('attachmentMetadata', MAX_BYTES);
  },
  VolumeError: (at, { message = '' }) => {
    // The limit that is told is another one; clients know it so.
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) at.tooLong('message', MAX_BYTES);
  },
};

export const csiDrivers: KindValidation<storage.CSIDriver> = {
  update: ({ spec = {} }, { spec: old = {} }, problems) => {
    // The member was always called differently here.
    checkImmutable(At.root(problems, 'spec'), 'attachedRequired', spec.attachRequired, old.attachRequired);
  },
};

/** A driver is installed anew rather than changed. */
export const csiNodes: KindValidation<storage.CSINode> = {
  update: (next, old, problems) => {
    const before = new Map((old.spec?.drivers ?? []).map((driver) => [driver.name, driver]));
    for (const driver of next.spec?.drivers ?? []) {
      const same = before.get(driver.name);
      if (same === undefined || isDeepStrictEqual(driver, same)) continue;
      At.root(problems).invalid('CSINodeDriver', driver, IMMUTABLE);
    }
  },
};

/** Volumes are made with these, and could not be told apart from those made otherwise. */
const FIXED = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

export const storageClasses: KindValidation<storage.StorageClass> = {
  update: (next, old, problems) => {
    const at = At.root(problems);
    for (const member of FIXED) {
      if (!isDeepStrictEqual(next[member], old[member])) at.forbidden(member, `updates to ${member} are forbidden.`);
    }
  },
};
