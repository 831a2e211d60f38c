import { respondPieces } from '../http/respond.js';
import { negotiateView } from '../views/views.js';
import { selection, versionParameters } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const list =
  ({ reader }: VerbDeps): VerbHandler =>
  async (ctx, { namespace }, served) => {
    const { query } = ctx.state;
    const { form, view } = negotiateView(ctx, served, 'list');
    const { filter } = selection(query, served.declaration);
    const page = await reader.list(served.stored, { ...versionParameters(query), namespace, filter });
    await respondPieces(ctx, await view.list(page, () => ctx.res.closed || ctx.res.destroyed), form.type);
  };
