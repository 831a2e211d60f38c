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
