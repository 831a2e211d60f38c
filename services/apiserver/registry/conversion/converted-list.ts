import type { CachedObject } from '../../cache/cached-object.js';
import { listItems } from '../../cache/ordered.js';
import { EVERYTHING, type ChangeFilter } from '../../cache/watchers.js';
import type { Asker } from '../../http/turns.js';
import type { ListParameters, Page, Reader } from '../reader.js';
import type { StoredResource } from '../resources.js';
import { BATCH_OBJECTS } from './batches.js';
import type { VersionConversion } from './version-conversion.js';

/** A list of objects that have to be converted before they can be selected and shown. */
export interface ConvertedList {
  readonly stored: StoredResource;
  readonly conversion: VersionConversion;
  readonly asked: ListParameters;
  /** What can be told of objects as they are stored: where they are, and what they are called. */
  readonly isCandidate: (object: CachedObject) => boolean;
}

/**
 * Reads a list as `reader.list` does, in the version of the conversion. One that is selected from is read in pieces, so
 * that no more is converted than it takes to fill it.
 *
 * @throws {StatusError} What the reader throws; InternalError when one of them cannot be converted
 * @throws `asker.signal.reason` when the asker has left
 */
export async function convertedList(reader: Pick<Reader, 'list'>, l: ConvertedList, asker: Asker): Promise<Page> {
  const { stored, conversion, asked } = l;
  if (asked.filter.id !== '') return selected(reader, l, asker);
  const page = await reader.list(stored, asked, asker);
  return pageOf(page, await conversion.objects(page.objects(), asker.signal));
}

async function selected(reader: Pick<Reader, 'list'>, l: ConvertedList, asker: Asker): Promise<Page> {
  const { stored, conversion, asked, isCandidate } = l;
  const { filter, limit } = asked;
  const filterOf = (matches: ChangeFilter['matches']): ChangeFilter => ({ ...EVERYTHING, id: filter.id, matches });
  const matching = async (page: Page): Promise<readonly CachedObject[]> => {
    const converted = await conversion.objects(page.objects(), asker.signal);
    return converted.filter((object) => filter.matches(object));
  };
  const found: CachedObject[] = [];
  let next: ListParameters = { ...asked, filter: filterOf(isCandidate) };
  for (;;) {
    const left = limit - found.length;
    const most = limit === 0 ? 0 : Math.max(left, BATCH_OBJECTS);
    let page = await reader.list(stored, { ...next, limit: most }, asker);
    let matches = await matching(page);
    if (limit > 0 && matches.length > left && page.objects().length > left) {
      // The same state once more, up to the last one that there is room for: where a list goes on is for the reader to say.
      const last = matches[left - 1];
      const upToLast = 1 + page.objects().findIndex(({ key }) => key === last?.key);
      page = await reader.list(stored, { ...sameState(next, page), limit: upToLast }, asker);
      matches = await matching(page);
    }
    found.push(...matches);
    const { continueToken } = page;
    if (continueToken === '' || found.length >= limit) return pageOf({ ...page, remaining: undefined }, found);
    next = { ...next, resourceVersion: undefined, match: '', continueToken };
  }
}

const sameState = (asked: ListParameters, { revision }: Page): ListParameters =>
  asked.continueToken === '' ? { ...asked, resourceVersion: revision, match: 'Exact' } : asked;

const pageOf = (page: Page, objects: readonly CachedObject[]): Page => ({
  ...page,
  items: () => listItems(objects),
  objects: () => [...objects],
});
