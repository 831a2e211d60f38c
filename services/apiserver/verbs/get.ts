import { answerObject } from './answers.js';
import { resourceVersionParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';
import { negotiateView } from '../views/views.js';

export const get =
  ({ reader }: VerbDeps): VerbHandler =>
  async (ctx, { namespace, name }, served) => {
    negotiateView(ctx, served, 'object'); // refuse before anything is read
    const at = resourceVersionParameter(ctx.state.query);
    await answerObject(ctx, served, await reader.get(served.stored, namespace, name, at));
  };
