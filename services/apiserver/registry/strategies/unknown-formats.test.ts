import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { definitions } from './definitions.js';

const definition = (...schemas: readonly unknown[]): ApiObject => ({
  apiVersion: 'apiextensions.platform.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'a' },
  spec: { versions: schemas.map((openAPIV3Schema) => ({ schema: { openAPIV3Schema } })) },
});
const text = (format: string, type = 'string'): object => ({ type, format });
const { warnings } = definitions(vocabulary('platform'));
const warned = (next: ApiObject, old?: ApiObject): readonly string[] =>
  (warnings?.(next, old) ?? []).map((it) => /^unrecognized format "(.*)"$/.exec(it)?.[1] ?? it);

describe('warnings about definitions', () => {
  it('tell of formats that nobody knows, each once and wherever they stand', () => {
    const schema = {
      type: 'object',
      properties: {
        a: text('a1'),
        items: { type: 'array', items: text('a2') },
        map: { type: 'object', additionalProperties: text('a3') },
        more: {
          type: 'object',
          allOf: [{ anyOf: [{ format: 'a4' }], oneOf: [{ not: { properties: { x: { format: 'a5' } } } }] }],
        },
        again: text('a1'),
      },
    };
    assert.deepEqual([...warned(definition(schema, { properties: { b: text('b1') } }))].sort(), ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']); // prettier-ignore
  });

  it('say nothing of those that mean something, and of what has no schema', () => {
    const known = { a: text('date-time'), b: text('k8s-short-name'), c: text('int32', 'integer'), d: text('double', 'number'), e: {}, f: text('') }; // prettier-ignore
    assert.deepEqual(warned(definition({ properties: known }, undefined)), []);
    assert.deepEqual(warned({ ...definition(), spec: {} }), []);
  });

  it('tell of formats of numbers on texts, and the other way round', () => {
    const mixed = { a: text('int32'), b: text('date', 'integer'), c: text('uuid', 'object') };
    assert.deepEqual(warned(definition({ properties: mixed })), ['int32', 'date', 'uuid']);
  });

  it('tell of a change what is new in it', () => {
    const old = definition({ properties: { a: text('x') } });
    const next = definition({ properties: { b: text('x'), c: text('y') } });
    assert.deepEqual(warned(next, old), ['y']);
    assert.deepEqual(warned(old, old), []);
  });
});
