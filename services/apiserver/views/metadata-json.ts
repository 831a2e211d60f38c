import type { ApiObject } from '../../machinery/meta/object.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { ByteWriter } from '../http/byte-writer.js';
import { jsonError, jsonFrame } from './json-frames.js';
import { metadataOf, type Shown, listMeta, markObject, type View } from './view.js';
import { inSlices } from './slices.js';

const KIND = 'PartialObjectMetadata';
const LIST_END = Buffer.from(']}');

/** The bytes before the metadata of a partial object. */
export const partialHead = (apiVersion: string): string =>
  `{"kind":"${KIND}","apiVersion":${JSON.stringify(apiVersion)},"metadata":`;

/** Objects without anything but their metadata, in JSON. Nothing is parsed for it. */
export function metadataAsJson(apiVersion: string): View {
  const head = partialHead(apiVersion);
  const headBytes = Buffer.from(head);
  const one = (shown: Shown): Buffer => Buffer.concat([headBytes, metadataOf(shown), OBJECT_END]);
  const write = (writer: ByteWriter, object: CachedObject): void => {
    writer.text(`,${head}`);
    writer.bytes(metadataOf(object));
    writer.text('}');
  };
  return {
    id: `metadata json ${apiVersion}`,
    one,
    list: async (page, asker) => {
      const listHead = JSON.stringify({ kind: `${KIND}List`, apiVersion, metadata: listMeta(page) });
      const [first, ...rest] = await inSlices(page.objects(), write, asker);
      const start = Buffer.from(`${listHead.slice(0, -1)},"items":[`);
      return [start, ...(first === undefined ? [] : [first.subarray(1)]), ...rest, LIST_END];
    },
    event: (type, object) => jsonFrame(type, one(object)),
    bookmark: (at, annotations) =>
      jsonFrame('BOOKMARK', JSON.stringify(markObject({ kind: KIND, apiVersion }, at, annotations))),
    error: jsonError,
  };
}
const OBJECT_END = Buffer.from('}');

/** The same of a few states that are stored nowhere: the list has no version of its own. */
export function metadataListAsJson(apiVersion: string, states: readonly ApiObject[]): Buffer {
  const items = states.map(({ metadata }) => ({ kind: KIND, apiVersion, metadata }));
  return Buffer.from(JSON.stringify({ kind: `${KIND}List`, apiVersion, metadata: {}, items }));
}
