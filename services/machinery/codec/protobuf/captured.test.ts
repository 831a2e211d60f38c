import assert from 'node:assert/strict';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import { typeGraph } from '../../types/graph.js';
import { decodeProtobuf } from './decode.js';
import { encodeProtobuf } from './encode.js';
import { decodeEnvelope, encodeEnvelope } from './envelope.js';
import { CAPTURED, spoken } from './testing/captured.js';

const { types } = loadCatalog(spoken);

/** As of the release that the bodies were captured from, which no longer writes what had been removed. */
const newerTypes = typeGraph({
  keys: () => types.keys(),
  get(key) {
    const declaration = types.get(key)?.declaration;
    const fields = declaration?.fields?.filter(
      (field) => field.removedIn === undefined || key !== 'meta/v1.ObjectMeta',
    );
    return declaration && { ...declaration, ...(fields && { fields }) };
  },
});

describe('the bodies of kubectl', () => {
  for (const { type, body, json } of CAPTURED) {
    const key = spoken.translate(type);
    const bytes = Buffer.from(body, 'base64');

    it(`mean what its JSON means: ${type}`, () => {
      const { apiVersion, kind, raw } = decodeEnvelope(bytes);
      const got = decodeProtobuf(types.of(key), raw);
      assert.deepEqual(got, { ...got, apiVersion, kind });
      assert.deepEqual(decodeObject(types.of(key), got), decodeObject(types.of(key), { apiVersion, kind, ...json }));
    });

    it(`are what we write, to the byte: ${type}`, () => {
      const { apiVersion, kind } = decodeEnvelope(bytes);
      const object = decodeObject(types.of(key), json).value as Record<string, never>;
      const wrapped = encodeEnvelope(apiVersion, kind, encodeProtobuf(newerTypes.of(key), object));
      assert.equal(wrapped.toString('base64'), body);
    });
  }
});
