import { hasReason } from '../../machinery/meta/status.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiateView } from '../views/views.js';
import { answerSuccess } from './answers.js';
import { readDeleteOptions, removeObject } from './delete.js';
import { selection, versionParameters } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** Deletions under way at once for one request. */
const WORKERS = 8;

export const deleteCollection =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    negotiateView(ctx, served, 'object'); // refuse before anything is done
    const { query } = ctx.state;
    const options = await readDeleteOptions(ctx, deps);
    const { filter } = selection(query, served.declaration);
    const page = await deps.reader.list(served.stored, {
      ...versionParameters(query),
      namespace: request.namespace,
      filter,
    });
    const objects = page.objects();
    const queue = objects.values();
    const worker = async (): Promise<void> => {
      for (const object of queue) {
        if (ctx.req.destroyed && !ctx.req.complete) return; // nobody waits for the rest
        await removeIfPresent(object);
      }
    };
    const removeIfPresent = async (object: CachedObject): Promise<void> => {
      try {
        await removeObject(deps, ctx, request, served, object, options);
      } catch (err) {
        if (!hasReason(err, 'NotFound')) throw err; // somebody else was quicker: what was wanted has happened
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    await answerSuccess(ctx, served, {}, { resourceVersion: String(page.revision) });
  };
