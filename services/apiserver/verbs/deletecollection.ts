import { hasReason } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import { respondPieces } from '../http/respond.js';
import { turns } from '../http/turns.js';
import { negotiateView } from '../views/views.js';
import { readDeleteOptions, removeObject } from './delete.js';
import { listed } from './list.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** Deletions under way at once for one request. */
const WORKERS = 8;

/** Deletes what a list selects, and answers that list as it was. */
export const deleteCollection =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const { form, view } = negotiateView(ctx, served, 'list'); // refuse before anything is done
    const { signal } = ctx.state;
    const options = await readDeleteOptions(ctx, deps);
    const page = await listed(deps, ctx, request, served, form);
    const objects = page.objects();
    // Admission sees each of them in the version of the request: many in one question.
    if (served.conversion !== undefined) await served.conversion.objects(objects, signal);
    const queue = objects.values();
    const failed = new AbortController();
    const worker = async (): Promise<void> => {
      for (const object of queue) {
        signal.throwIfAborted(); // the rest is not waited for
        failed.signal.throwIfAborted();
        await turns.next(); // a dry run waits for nothing else
        turns.charge(0);
        await removeIfPresent(object);
      }
    };
    const removeIfPresent = async (object: CachedObject): Promise<void> => {
      try {
        await removeObject(deps, ctx, request, served, object, options);
      } catch (err) {
        if (hasReason(err, 'NotFound')) return; // another request was quicker: it is gone, as was wanted
        failed.abort(err);
        throw err;
      }
    };
    // Nothing goes on after the answer: a failure is told when the others have come to their end.
    const ends = await Promise.allSettled(Array.from({ length: WORKERS }, worker));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    await respondPieces(ctx, await view.list(page, ctx.state), form.type);
  };
