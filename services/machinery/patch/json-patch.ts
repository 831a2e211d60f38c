import { Pointer } from 'rfc6902';
import { getOwn, isJsonObject, jsonEqual } from '../meta/own.js';
import type { Json } from '../meta/object.js';
import { StatusError, badRequest } from '../meta/status.js';
import type { Work } from '../work/work.js';
import type { Path } from './draft.js';
import { DoesNotApply, Draft, missing, shownPath } from './draft.js';

const MAX_OPERATIONS = 10_000;
/** Longest text of all values that `copy` puts in, together: a few operations can double a document many times. */
const MAX_COPIED = 3 * 1024 * 1024;
/** Paths reach no deeper than bodies do. */
const MAX_STEPS = 1000;

interface Operation {
  readonly path: Path;
  /** Empty for operations without. */
  readonly from: Path;
  /** Null for operations without. */
  readonly value: Json;
}

/** The document is not what a `test` says that it is. */
export class TestFailed extends DoesNotApply {}

/** A patch under way. */
interface Run {
  readonly draft: Draft;
  copied: number;
}

interface Act {
  readonly needs: readonly ('from' | 'value')[];
  readonly apply: (run: Run, operation: Operation) => void;
}

/** The six operations of RFC 6902. */
const ACTS: ReadonlyMap<unknown, Act> = new Map<string, Act>([
  ['add', { needs: ['value'], apply: ({ draft }, o) => draft.add(o.path, o.value) }],
  ['remove', { needs: [], apply: ({ draft }, o) => draft.remove(o.path) }],
  ['replace', { needs: ['value'], apply: ({ draft }, o) => draft.replace(o.path, o.value) }],
  ['move', { needs: ['from'], apply: move }],
  ['copy', { needs: ['from'], apply: copy }],
  ['test', { needs: ['value'], apply: test }],
]);

/**
 * Applies a JSON patch (RFC 6902) and gives the result, which shares with the document and the patch what it can;
 * neither is changed. Names such as `__proto__` in a path are members like any other.
 *
 * Pointers are read by the library; the operations are ours. The library's follow what objects inherit
 * (`/toString/x` reaches a function that all objects share), skip some names, take any text for the index of a list,
 * and compare lists in quadratic time.
 *
 * @param patch As parsed: anything at all.
 * @throws {StatusError} BadRequest for what is no patch; RequestEntityTooLarge for too many operations; Invalid when an
 * operation does not apply, with the reason as its cause.
 */
export function* applyJsonPatch(document: Json, patch: unknown): Work<Json> {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: it is not a list of operations');
  if (patch.length > MAX_OPERATIONS) {
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity is too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  }
  const steps: Step[] = [];
  for (const [i, given] of patch.entries()) {
    steps.push(parseStep(given, i));
    yield;
  }
  const run: Run = { draft: new Draft(document), copied: 0 };
  for (const [i, { act, operation }] of steps.entries()) {
    try {
      act.apply(run, operation);
    } catch (err) {
      throw err instanceof DoesNotApply ? unprocessable(i, err) : err;
    }
    yield;
  }
  return run.draft.document;
}

interface Step {
  readonly act: Act;
  readonly operation: Operation;
}

function parseStep(given: unknown, i: number): Step {
  const refused = (why: string): StatusError => badRequest(`error decoding patch: operation ${i} ${why}`);
  if (!isJsonObject(given)) throw refused('is not an object');
  const act = ACTS.get(getOwn(given, 'op'));
  if (act === undefined) throw refused('has no known "op"');
  const absent = act.needs.find((member) => !Object.hasOwn(given, member));
  if (absent !== undefined) throw refused(`has no "${absent}"`);
  const pointer = (member: 'path' | 'from'): Path => {
    const path = parsePointer(getOwn(given, member));
    if (path === undefined) throw refused(`has a "${member}" that is no JSON pointer`);
    return path;
  };
  const from = act.needs.includes('from') ? pointer('from') : [];
  // What was parsed is JSON; a missing value was refused where it is needed.
  const value = (getOwn(given, 'value') ?? null) as Json;
  return { act, operation: { path: pointer('path'), from, value } };
}

function parsePointer(text: unknown): Path | undefined {
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) return undefined;
  const path = Pointer.fromJSON(text).tokens.slice(1);
  return path.length > MAX_STEPS ? undefined : path;
}

function move({ draft }: Run, { from, path }: Operation): void {
  const value = draft.get(from);
  if (value === undefined) throw missing(from);
  const isWithin = from.every((key, i) => key === path[i]);
  if (isWithin && path.length > from.length) throw new DoesNotApply(`cannot move ${shownPath(from)} into itself`);
  if (isWithin) return; // onto itself
  draft.remove(from);
  draft.add(path, value);
}

function copy(run: Run, { from, path }: Operation): void {
  const value = run.draft.get(from);
  if (value === undefined) throw missing(from);
  const text = JSON.stringify(value);
  run.copied += text.length;
  if (run.copied > MAX_COPIED) {
    throw new DoesNotApply(
      `Unable to complete the copy, the accumulated size increase of copy is ${run.copied}, exceeding the limit ${MAX_COPIED}`,
    );
  }
  run.draft.add(path, JSON.parse(text) as Json); // neither of the two changes with the other
}

/** Absent and null pass for the same, which is how a patch asks that something is not there yet. */
function test({ draft }: Run, { path, value }: Operation): void {
  if (!jsonEqual(draft.get(path) ?? null, value)) throw new TestFailed(`testing value ${shownPath(path)} failed`);
}

/** The message is the one that clients know; the reason goes where they look for details. */
function unprocessable(i: number, err: DoesNotApply): StatusError {
  return new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
    cause: err,
    details: { causes: [{ reason: 'FieldValueInvalid', message: err.message, field: `[${i}]` }] },
  });
}
