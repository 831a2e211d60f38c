import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { JsonObject } from '../../meta/object.js';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import { arbitraryOf } from '../../types/testing/arbitrary.js';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import { encodeProtobuf } from './encode.js';
import { decodeEnvelope, encodeEnvelope } from './envelope.js';
import { encodeList, LATE_METADATA_NUMBERS, listItem } from './list.js';
import { protoFiles } from './proto-files.js';
import { jsonFormOf, messageName, PUBLISHED, publishedFiles, publishedReader } from './testing/published.js';
import { encodeWatchFrame } from './watch-frame.js';
import { hasWireForm } from './wire-form.js';

const words = vocabulary('platform');
const catalog = loadCatalog(words);
const { types } = catalog;
const kindKeys = [...types.keys()].filter((key) => types.of(key).declaration.kind === true);

describe('protoFiles()', () => {
  const files = protoFiles(types, words.openApiModelPrefix);

  it('gives what is in proto/resource-api; `make proto` writes it anew', () => {
    assert.deepEqual(publishedFiles(), [...files.keys()].sort());
    for (const [path, text] of files) assert.equal(readFileSync(join(PUBLISHED, path), 'utf8'), text, path);
  });

  it('has a message for every kind that can be Protobuf', () => {
    const missing = kindKeys.filter((key) => {
      const { length } = [...files.values()].filter((text) => {
        const [, name = ''] = /^package (.*);$/m.exec(text) ?? [];
        const message = messageName(key);
        return message.startsWith(`${name}.`) && text.includes(`message ${message.slice(name.length + 1)} {`);
      });
      return length !== 1;
    });
    assert.deepEqual(missing, ['meta/v1.Table']);
    assert.deepEqual(
      kindKeys.filter((key) => !hasWireForm(types.of(key))),
      ['meta/v1.Table'],
    );
  });
});

describe('a general Protobuf library with the published files', () => {
  const read = publishedReader();
  const normal = (key: string, object: unknown): JsonObject => decodeObject(types.of(key), object).value as JsonObject;
  const kinds = kindKeys.filter((key) => hasWireForm(types.of(key)));

  it('is asked about everything that is served', () => {
    assert.deepEqual(
      catalog.resources.map(({ type }) => type).filter((type) => !kinds.includes(type)),
      [],
    );
  });

  for (const key of kinds) {
    it(`reads any ${key} as it was written`, () => {
      fc.assert(
        fc.property(arbitraryOf(catalog, key, { maxDepth: 4 }), (object) => {
          const before = normal(key, object);
          const message = read(messageName(key), encodeProtobuf(types.of(key), before));
          const { kind, apiVersion } = before; // these travel in the envelope
          assert.deepEqual(
            normal(key, { kind, apiVersion, ...(jsonFormOf(types.of(key), message) as object) }),
            before,
          );
        }),
        { numRuns: 4 },
      );
    });
  }

  it('reads envelopes', () => {
    const { typeMeta, raw } = read(
      'io.platform.runtime.Unknown',
      encodeEnvelope('v1', 'Pod', Buffer.from('x')).subarray(4),
    );
    assert.deepEqual([typeMeta, raw], [{ apiVersion: 'v1', kind: 'Pod' }, Buffer.from('x').toString('base64')]);
  });

  it('reads lists, item by item', () => {
    const items = ['a', 'b'].flatMap((name) => {
      const item = encodeProtobuf(types.of('core/v1.ConfigMap'), { metadata: { name }, data: { k: name } });
      return listItem({ metadata: 1, items: 2 }, item);
    });
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '7', remainingItemCount: 3 } };
    const { kind, raw } = decodeEnvelope(Buffer.concat(encodeList(list, items)));
    const json = jsonFormOf(types.of('core/v1.ConfigMapList'), read('io.platform.core.v1.ConfigMapList', raw));
    const { metadata, items: shown } = normal('core/v1.ConfigMapList', json) as unknown as Record<string, unknown>;
    assert.deepEqual([kind, metadata], ['ConfigMapList', { resourceVersion: '7', remainingItemCount: 3 }]);
    assert.deepEqual(
      (shown as { metadata: { name: string }; data: object }[]).map((item) => [item.metadata.name, item.data]),
      [
        ['a', { k: 'a' }],
        ['b', { k: 'b' }],
      ],
    );
  });

  it('reads the list of version v1beta1 that got its metadata late', () => {
    const item = encodeProtobuf(types.of('meta/v1.PartialObjectMetadata'), { metadata: { name: 'a' } });
    const list = { apiVersion: 'x', kind: 'PartialObjectMetadataList', metadata: { resourceVersion: '7' } };
    const pieces = encodeList(list, listItem(LATE_METADATA_NUMBERS, item), LATE_METADATA_NUMBERS);
    const { raw } = decodeEnvelope(Buffer.concat(pieces));
    const shown = read('io.platform.meta.v1beta1.PartialObjectMetadataList', raw) as {
      items: { metadata: { name: string } }[];
      metadata: { resourceVersion: string };
    };
    assert.deepEqual([shown.items[0]?.metadata.name, shown.metadata.resourceVersion], ['a', '7']);
  });

  it('reads the events of a watch', () => {
    const frame = encodeWatchFrame('ADDED', Buffer.from('object'));
    assert.equal(frame.readUInt32BE(), frame.length - 4);
    const event = read('io.platform.meta.v1.WatchEvent', frame.subarray(4));
    assert.deepEqual(event, { type: 'ADDED', object: { raw: Buffer.from('object').toString('base64') } });
  });
});
