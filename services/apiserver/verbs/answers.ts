import type { ApiObject } from '../../machinery/meta/object.js';
import type { CachedObject } from '../cache/cached-object.js';
import { negotiate } from '../http/negotiation.js';
import { respondJson } from '../http/respond.js';
import type { Context } from '../pipeline/request.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';

/** An object's JSON in the served version: the stored bytes themselves wherever that is the version. */
export function objectBytes(served: ServedResource, object: CachedObject): Buffer {
  if (served.servesStorageVersion) return object.bytes;
  return Buffer.from(JSON.stringify(served.fromStorage(object.parse() as ApiObject)));
}

export async function answerObject(
  ctx: Context,
  served: ServedResource,
  object: CachedObject,
  code = 200,
): Promise<void> {
  await respondJson(ctx, code, objectBytes(served, object), negotiate(ctx.get('Accept')));
}

/** A state that is not stored: the end of a dry run, or the last one of an object that is gone. In the storage version. */
export async function answerState(ctx: Context, served: ServedResource, state: ApiObject, code = 200): Promise<void> {
  const shown = Buffer.from(JSON.stringify(served.fromStorage(state)));
  await respondJson(ctx, code, shown, negotiate(ctx.get('Accept')));
}

/** A `Status` that tells of success. Every client reads it, whatever view of objects it asked for. */
export async function answerSuccess(
  ctx: Context,
  { declaration }: ServedResource,
  details: { readonly name?: string; readonly uid?: string | undefined },
  metadata: { readonly resourceVersion?: string } = {},
): Promise<void> {
  const { group, resource } = declaration;
  const { name, uid } = details;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind: resource, uid },
  };
  await respondJson(ctx, 200, Buffer.from(JSON.stringify(status)), negotiate(ctx.get('Accept')));
}

const LIST_END = Buffer.from(']}');

export function listPieces(served: ServedResource, page: Page): Buffer[] {
  const { declaration, apiVersion } = served;
  const metadata = {
    resourceVersion: String(page.revision),
    ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  const head = JSON.stringify({ kind: declaration.listKind, apiVersion, metadata });
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  const items = served.servesStorageVersion ? page.items() : convertedItems(served, page);
  for (const piece of items) parts.push(parts.length === 1 ? piece.subarray(1) : piece); // no comma before the first
  parts.push(LIST_END);
  return parts;
}

function convertedItems(served: ServedResource, page: Page): Buffer[] {
  return page.objects().map((object) => {
    const { kind, apiVersion, ...item } = served.fromStorage(object.parse() as ApiObject);
    return Buffer.from(`,${JSON.stringify(item)}`);
  });
}
