import { changeObject } from './change.js';
import { parsedBody } from './decode-body.js';
import { onUnknownFields } from './field-validation.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const update =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const dryRun = dryRunParameter(ctx.state.query);
    const onUnknown = onUnknownFields(ctx);
    const body = await parsedBody(ctx, deps.limits);
    served.decode(body, onUnknown); // a body that is wrong is refused before anything is read
    await changeObject(deps, ctx, request, served, () => served.decode(body), dryRun);
  };
