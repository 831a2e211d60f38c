import type { ApiObject } from '../meta/object.js';
import type { Vocabulary } from '../vocabulary/vocabulary.js';
import type { Spoke } from './spoke.js';

/** The members whose names differ: in the events group, in the core group, where events are stored. */
const RENAMED = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
] as const;

const toCore = new Map<string, string>(RENAMED);
const fromCore = new Map<string, string>(RENAMED.map(([own, core]) => [core, own]));

const renamed =
  (names: ReadonlyMap<string, string>) =>
  (object: ApiObject): ApiObject =>
    // the entries of an object with some top-level names changed, none of them those that make it an ApiObject
    Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value])) as ApiObject;

/** Events of the events group, stored as events of the core group: the same members under other names. */
export const eventSpokes = (vocabulary: Vocabulary): readonly Spoke[] =>
  ['v1', 'v1beta1'].map((version) => ({
    group: vocabulary.groups.events,
    version,
    kind: 'Event',
    toHub: renamed(toCore),
    fromHub: renamed(fromCore),
  }));
