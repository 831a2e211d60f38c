import { respondPieces } from '../http/respond.js';
import { negotiateView, type Negotiated } from '../views/views.js';
import { convertedList } from '../registry/conversion/converted-list.js';
import { readThrough } from '../registry/read-through.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { isConverted } from '../views/converted.js';
import { selection, versionParameters } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

export const list =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const { form, view } = negotiateView(ctx, served, 'list');
    const page = await listed(deps, ctx, request, served, form);
    await respondPieces(ctx, await view.list(page, ctx.state), form.type);
  };

/** What a request for a list selects, as it is shown in a form. @throws {StatusError} */
export async function listed(
  { reader }: VerbDeps,
  ctx: Context,
  { namespace }: ResourceRequest,
  served: ServedResource,
  form: Negotiated['form'],
): Promise<Page> {
  const { query } = ctx.state;
  const { stored, declaration, conversion } = served;
  const { filter, name } = selection(query, declaration);
  const asked = { ...versionParameters(query), namespace, filter };
  // Where there is something to select by, it is looked at in the version that was asked for.
  if (conversion !== undefined && (filter.id !== '' || isConverted(served, form))) {
    const isCandidate = (object: { readonly name: string }): boolean => name === '' || object.name === name;
    return convertedList(reader, { stored, conversion, asked, isCandidate }, ctx.state);
  }
  await readThrough(stored.cache, namespace, filter, ctx.state);
  return reader.list(stored, asked, ctx.state);
}
