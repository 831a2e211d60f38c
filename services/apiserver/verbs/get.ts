import { answerObject } from './answers.js';
import { resourceVersionParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const get =
  ({ reader }: VerbDeps): VerbHandler =>
  async (ctx, { namespace, name }, served) => {
    const at = resourceVersionParameter(ctx.state.query);
    await answerObject(ctx, served, await reader.get(served.stored, namespace, name, at, ctx.state));
  };
