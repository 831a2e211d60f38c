import { create } from './create.js';
import { deleteOne } from './delete.js';
import { deleteCollection } from './deletecollection.js';
import { get } from './get.js';
import { list } from './list.js';
import { patch } from './patch.js';
import type { VerbDeps, VerbTable } from './types.js';
import { update } from './update.js';
import { watch } from './watch.js';

export const verbTable = (d: VerbDeps): VerbTable => ({
  get: get(d),
  list: list(d),
  watch: watch(d),
  create: create(d),
  update: update(d),
  patch: patch(d),
  delete: deleteOne(d),
  deletecollection: deleteCollection(d),
});
