import { badRequest, type StatusError } from '../../machinery/meta/status.js';

/**
 * The meaning of a resourceVersion (spec 1, 4.6). The two tables below are those of the specification.
 *
 * - `MostRecent`: the newest data, consistent with the store
 * - `Any`: whatever the cache holds
 * - `NotOlderThan`: at least as new as the version
 * - `Exact`: as of that version, or 410
 * - `Continue`: as of the version in the continue token
 */
export type Meaning = 'MostRecent' | 'Any' | 'NotOlderThan' | 'Exact' | 'Continue';

type Cell = Meaning | 'invalid';
type Column = 'unset' | 'zero' | 'other';
type Row = Readonly<Record<Column, Cell>>;

const GET: Readonly<Record<Column, Meaning>> = { unset: 'MostRecent', zero: 'Any', other: 'NotOlderThan' };

export type Match = '' | 'Exact' | 'NotOlderThan';
type Paging = 'noLimit' | 'limit' | 'continue';

const NEVER: Row = { unset: 'invalid', zero: 'invalid', other: 'invalid' };

const LIST: Readonly<Record<Match, Readonly<Record<Paging, Row>>>> = {
  '': {
    noLimit: { unset: 'MostRecent', zero: 'Any', other: 'NotOlderThan' },
    limit: { unset: 'MostRecent', zero: 'Any', other: 'Exact' },
    continue: { unset: 'Continue', zero: 'Continue', other: 'invalid' },
  },
  Exact: {
    noLimit: { unset: 'invalid', zero: 'invalid', other: 'Exact' },
    limit: { unset: 'invalid', zero: 'invalid', other: 'Exact' },
    continue: NEVER,
  },
  NotOlderThan: {
    noLimit: { unset: 'invalid', zero: 'Any', other: 'NotOlderThan' },
    limit: { unset: 'invalid', zero: 'Any', other: 'NotOlderThan' },
    continue: NEVER,
  },
};

export type WatchStart = 'GetStateMostRecent' | 'GetStateAny' | 'Exact';

const WATCH: Readonly<Record<Column, WatchStart>> = {
  unset: 'GetStateMostRecent',
  zero: 'GetStateAny',
  other: 'Exact',
};

/** The version parameters of reads, parsed. `resourceVersion` is undefined when unset. */
export interface VersionParameters {
  readonly resourceVersion: number | undefined;
  readonly match: Match;
  readonly limit: number;
  /** '' when unset. */
  readonly continueToken: string;
}

const column = (resourceVersion: number | undefined): Column =>
  resourceVersion === undefined ? 'unset' : resourceVersion === 0 ? 'zero' : 'other';

export const getMeaning = (resourceVersion: number | undefined): Meaning => GET[column(resourceVersion)];

export const watchStart = (resourceVersion: number | undefined): WatchStart => WATCH[column(resourceVersion)];

/** @throws {StatusError} BadRequest for a combination that the table calls invalid. */
export function listMeaning(p: VersionParameters): Meaning {
  const paging: Paging = p.continueToken !== '' ? 'continue' : p.limit > 0 ? 'limit' : 'noLimit';
  const at = column(p.resourceVersion);
  const cell = LIST[p.match][paging][at];
  if (cell === 'invalid') throw invalidCombination(p, paging, at);
  return cell;
}

function invalidCombination(p: VersionParameters, paging: Paging, at: Column): StatusError {
  const version = { unset: 'no resourceVersion', zero: 'resourceVersion "0"', other: 'a resourceVersion' }[at];
  const match = p.match === '' ? 'no resourceVersionMatch' : `resourceVersionMatch "${p.match}"`;
  const chunk = { noLimit: 'no limit', limit: 'a limit', continue: 'a continue token' }[paging];
  return badRequest(`Invalid combination of list parameters: ${match} with ${version} and ${chunk}`);
}
