import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../meta/object.js';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import { arbitraryOf } from '../../types/testing/arbitrary.js';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import { decodeProtobuf } from './decode.js';
import { encodeProtobuf } from './encode.js';

const catalog = loadCatalog(vocabulary('platform'));
const normal = (key: string, object: unknown): JsonObject =>
  decodeObject(catalog.types.of(key), object).value as JsonObject;

/** Declared in data only: the answers as tables, which are JSON. */
const isJsonOnly = (declaration: object): boolean => 'noProto' in declaration;

describe('decodeProtobuf() of encodeProtobuf()', () => {
  const kinds = [...catalog.types.keys()].filter((key) => {
    const { declaration } = catalog.types.of(key);
    return declaration.kind === true && !isJsonOnly(declaration);
  });

  it('knows all kinds that are served', () => {
    assert.deepEqual(
      catalog.resources.map(({ type }) => type).filter((type) => !kinds.includes(type)),
      [],
    );
  });

  for (const key of kinds) {
    it(`gives back any ${key}`, () => {
      fc.assert(
        fc.property(arbitraryOf(catalog, key, { maxDepth: 4 }), (object) => {
          const before = normal(key, object);
          const raw = encodeProtobuf(catalog.types.of(key), before);
          const after = decodeProtobuf(catalog.types.of(key), raw);
          assert.deepEqual(normal(key, after), before);
          assert.deepEqual(encodeProtobuf(catalog.types.of(key), after), raw, 'before it is normalised');
        }),
        { numRuns: 8 },
      );
    });
  }
});
