import type { ApiObject } from '../../machinery/meta/object.js';
import { CachedObject } from '../cache/cached-object.js';
import { negotiateForm } from '../http/negotiation.js';
import { protobufStatus, respondJson } from '../http/respond.js';
import { turns, weigh } from '../http/turns.js';
import type { Context } from '../request/request.js';
import type { ServedResource } from '../registry/resources.js';
import type { Written } from '../registry/writer.js';
import { negotiateView } from '../views/views.js';
import { inVersion, isConverted } from '../views/converted.js';
import type { Shown } from '../views/view.js';

/** Answers with an object in the view that the client wants of it. */
export async function answerObject(
  ctx: Context,
  served: ServedResource,
  object: CachedObject,
  code = 200,
): Promise<void> {
  await answer(ctx, served, object, code);
}

/** A state that is not stored, in the storage version. */
export async function answerState(ctx: Context, served: ServedResource, state: ApiObject, code = 200): Promise<void> {
  await answer(ctx, served, state, code);
}

/** Answers with what a write has left: clients expect an object, also of a dry run and of what it has removed. */
export async function answerWritten(
  ctx: Context,
  served: ServedResource,
  { object, state, created }: Written,
): Promise<void> {
  const shown = state ?? object;
  if (shown === undefined) throw new Error('A write has left no object');
  await answer(ctx, served, shown, created ? 201 : 200);
}

async function answer(ctx: Context, served: ServedResource, given: Shown, code: number): Promise<void> {
  const { form, view } = negotiateView(ctx, served, 'object');
  const shown = isConverted(served, form) ? await inVersion(served, given, ctx.state) : given;
  const isThere = shown instanceof CachedObject && form.view === 'object' && form.encoding === 'json' && served.servesStorageVersion; // prettier-ignore
  if (!isThere) {
    if (shown instanceof CachedObject) weigh(ctx.state, shown.bytes.length);
    if (ctx.state.heavy === true) await turns.alone();
  }
  await respondJson(ctx, code, view.one(shown), form.type);
}

/** A `Status` that tells of success. Every client reads it, whatever view of objects it asked for. */
export async function answerSuccess(
  ctx: Context,
  { declaration }: ServedResource,
  details: { readonly name: string; readonly uid: string | undefined },
): Promise<void> {
  const { group, resource } = declaration;
  const { name, uid } = details;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: resource, uid },
  };
  const { encoding, type } = negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  const body = encoding === 'protobuf' ? protobufStatus(status) : Buffer.from(JSON.stringify(status));
  await respondJson(ctx, 200, body, type);
}
