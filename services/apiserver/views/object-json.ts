import type { CachedObject } from '../cache/cached-object.js';
import type { Page } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import { jsonError, jsonFrame } from './json-frames.js';
import { inServedVersion, jsonOf } from './shown.js';
import type { ByteWriter } from '../http/byte-writer.js';
import type { Asker } from '../http/turns.js';
import { allPieces, inSlices } from './slices.js';
import { listMeta, markObject, type View } from './view.js';

const LIST_END = Buffer.from(']}');

/** Objects as they are, in JSON. */
export const objectsAsJson = (served: ServedResource): View => ({
  id: `json ${served.apiVersion}`,
  one: (shown) => jsonOf(served, shown),
  list: (page, asker) => listPieces(served, page, asker),
  event: (type, object) => jsonFrame(type, jsonOf(served, object)),
  bookmark: (at, annotations) => jsonFrame('BOOKMARK', JSON.stringify(markObject(named(served), at, annotations))),
  error: jsonError,
});

const named = ({ declaration: { kind }, apiVersion }: ServedResource): { kind: string; apiVersion: string } => ({
  kind,
  apiVersion,
});

async function listPieces(served: ServedResource, page: Page, asker: Asker): Promise<Buffer[]> {
  const { declaration, apiVersion } = served;
  const head = JSON.stringify({ kind: declaration.listKind, apiVersion, metadata: listMeta(page) });
  const made = served.servesStorageVersion
    ? allPieces(page.items(), asker)
    : inSlices(page.objects(), (writer, object) => writeConverted(writer, served, object), asker);
  const items = Array.isArray(made) ? made : await made; // most are there at once
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  for (const piece of items) parts.push(parts.length === 1 ? piece.subarray(1) : piece); // no comma before the first
  parts.push(LIST_END);
  return parts;
}

/** With a comma in front. */
function writeConverted(writer: ByteWriter, served: ServedResource, object: CachedObject): void {
  const { kind, apiVersion, ...item } = inServedVersion(served, object);
  writer.text(`,${JSON.stringify(item)}`);
}
