import type { ApiObject } from '../../../machinery/meta/object.js';
import type { CustomResourceDefinition } from '../../../machinery/types/generated/apiextensions.v1.js';
import { now } from '../../../machinery/meta/time.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { Strategy } from '../strategy.js';
import { unknownFormats } from './unknown-formats.js';

type Definition = ApiObject & CustomResourceDefinition;

/** Notes the version in which objects are stored from now on beside those in which some may be. */
function noteStorage(next: ApiObject, old?: ApiObject): void {
  const definition = next as Definition;
  const stored = (old as Definition | undefined)?.status?.storedVersions ?? [];
  const present = definition.spec?.versions?.find((version) => version.storage === true)?.name;
  if (present === undefined || stored.includes(present)) return;
  next['status'] = { ...(definition.status ?? {}), storedVersions: [...stored, present] };
}

/** Of a definition that is there already, what its new state adds. */
function formatWarnings(next: ApiObject, old: ApiObject | undefined): string[] {
  const unknown = [...unknownFormats(next as Definition)];
  if (unknown.length === 0) return [];
  const before = old === undefined ? new Set() : unknownFormats(old as Definition);
  return unknown.filter((it) => !before.has(it)).map((it) => `unrecognized format ${JSON.stringify(it)}`);
}

const PENDING = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
} as const;

/** Definitions of custom resources: the versions that are stored, and the instances that go first. */
export const definitions = ({ definitionFinalizer }: Vocabulary): Partial<Strategy> => ({
  statusLeaves: 'everything',
  generation: 'spec',
  prepareForCreate: (object) => noteStorage(object),
  prepareForUpdate: noteStorage,
  warnings: formatWarnings,
  deletionFinalizers: [definitionFinalizer],
  markDeleted: (object) => {
    const { status = {} } = object as Definition;
    const conditions = (status.conditions ?? []).filter(({ type }) => type !== PENDING.type);
    object['status'] = { ...status, conditions: [...conditions, { ...PENDING, lastTransitionTime: now() }] };
  },
});
