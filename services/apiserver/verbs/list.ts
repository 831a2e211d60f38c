import { respondPieces } from '../http/respond.js';
import { negotiateView } from '../views/views.js';
import { readThrough } from '../registry/read-through.js';
import { selection, versionParameters } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const list =
  ({ reader }: VerbDeps): VerbHandler =>
  async (ctx, { namespace }, served) => {
    const { query } = ctx.state;
    const { form, view } = negotiateView(ctx, served, 'list');
    const { filter } = selection(query, served.declaration);
    await readThrough(served.stored.cache, namespace, filter, ctx.state);
    const asked = { ...versionParameters(query), namespace, filter };
    const page = await reader.list(served.stored, asked, ctx.state);
    await respondPieces(ctx, await view.list(page, ctx.state), form.type);
  };
