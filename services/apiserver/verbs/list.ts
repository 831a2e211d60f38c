import { negotiate } from '../http/negotiation.js';
import { respondPieces } from '../http/respond.js';
import { listPieces } from './answers.js';
import { selection, versionParameters } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const list =
  ({ reader }: VerbDeps): VerbHandler =>
  async (ctx, { namespace }, served) => {
    const { query } = ctx.state;
    const type = negotiate(ctx.get('Accept'));
    const { filter } = selection(query, served.declaration);
    const page = await reader.list(served.stored, { ...versionParameters(query), namespace, filter });
    await respondPieces(ctx, listPieces(served, page), type);
  };
