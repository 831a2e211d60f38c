import assert from 'node:assert/strict';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import type { TypeDeclaration } from '../../types/declarations.js';
import { decodeProtobuf } from './decode.js';
import { encodeProtobuf } from './encode.js';
import { decodeEnvelope, encodeEnvelope } from './envelope.js';
import { CAPTURED, spoken } from './testing/captured.js';

const { types } = loadCatalog(spoken);

/** As of the release that the bodies were captured from, which no longer writes what had been removed. */
function newer(): ReadonlyMap<string, TypeDeclaration> {
  const all = new Map(types);
  const metadata = types.get('meta/v1.ObjectMeta');
  const fields = metadata?.fields?.filter((field) => field.removedIn === undefined) ?? [];
  return all.set('meta/v1.ObjectMeta', { ...metadata, fields });
}
const newerTypes = newer();

describe('the bodies of kubectl', () => {
  for (const { type, body, json } of CAPTURED) {
    const key = spoken.translate(type);
    const bytes = Buffer.from(body, 'base64');

    it(`mean what its JSON means: ${type}`, () => {
      const { apiVersion, kind, raw } = decodeEnvelope(bytes);
      const got = decodeProtobuf(types, key, raw);
      assert.deepEqual(got, { ...got, apiVersion, kind });
      assert.deepEqual(decodeObject(types, key, got), decodeObject(types, key, { apiVersion, kind, ...json }));
    });

    it(`are what we write, to the byte: ${type}`, () => {
      const { apiVersion, kind } = decodeEnvelope(bytes);
      const object = decodeObject(types, key, json).value as Record<string, never>;
      const wrapped = encodeEnvelope(apiVersion, kind, encodeProtobuf(newerTypes, key, object));
      assert.equal(wrapped.toString('base64'), body);
    });
  }
});
