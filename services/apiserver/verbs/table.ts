import { create } from './create.js';
import { deleteOne } from './delete.js';
import { deleteCollection } from './deletecollection.js';
import { get } from './get.js';
import { list } from './list.js';
import { patch } from './patch.js';
import { negotiateView } from '../views/views.js';
import type { VerbDeps, VerbHandler, VerbTable } from './types.js';
import { update } from './update.js';
import { watch } from './watch.js';

/** Refuses what cannot be answered as the client wants before anything is read or done. @throws {StatusError} NotAcceptable */
const negotiated =
  (handler: VerbHandler): VerbHandler =>
  (ctx, request, served) => {
    negotiateView(ctx, served, 'object');
    return handler(ctx, request, served);
  };

export const verbTable = (d: VerbDeps): VerbTable => ({
  get: negotiated(get(d)),
  list: list(d),
  watch: watch(d),
  create: negotiated(create(d)),
  update: negotiated(update(d)),
  patch: negotiated(patch(d)),
  delete: negotiated(deleteOne(d)),
  deletecollection: deleteCollection(d),
});
