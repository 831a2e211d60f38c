import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary, type VocabularyName } from '../../../machinery/vocabulary/vocabulary.js';
import { servedApi } from '../../registry/runtime-config.js';
import { DocumentWriter } from '../documents.js';
import { partsOf } from '../parts.js';
import { done } from '../../../machinery/work/work.js';
import { encodeDocument } from './encode.js';
import { decodeDocument } from './testing/decode-document.js';

/** What the Protobuf form cannot tell from absent. */
const withoutEmptyLists = (document: object): unknown =>
  JSON.parse(JSON.stringify(document, (_, value: unknown) => (isEmptyList(value) ? undefined : value)));
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const encoded = (document: object): Buffer => done(encodeDocument(document));
const withSchema = (schema: object): object => ({ swagger: '2.0', definitions: { Thing: schema } });
const schemaOf = (document: unknown): unknown =>
  (document as { readonly definitions: { readonly Thing: unknown } }).definitions.Thing;
const throughProtobuf = (schema: object): unknown => schemaOf(decodeDocument(encoded(withSchema(schema))));

describe('encodeDocument()', () => {
  for (const name of ['platform', 'kubernetes'] as VocabularyName[]) {
    it(`loses nothing of what is served in the ${name} vocabulary`, () => {
      const words = vocabulary(name);
      const catalog = loadCatalog(words);
      const { groups } = servedApi(catalog, new Map()).api;
      const writer = new DocumentWriter({ catalog, vocabulary: words, version: '1.24.0', returnsDeleted: () => false });
      const document = done(writer.v2(partsOf(groups)));
      const decoded = decodeDocument(encoded(document)) as object;
      assert.deepEqual(withoutEmptyLists(decoded), withoutEmptyLists(document));
    });
  }

  it('has all that schemas of custom resources may say', () => {
    const schema = {
      type: 'object',
      title: 'Thing',
      description: 'ünïcödé "quoted"\n',
      required: ['size', 'of'],
      properties: {
        size: {
          type: 'integer',
          format: 'int64',
          minimum: -2.5,
          maximum: 9007199254740991,
          exclusiveMaximum: true,
          exclusiveMinimum: false,
          multipleOf: 0.5,
          default: 0,
          enum: [0, 1, 'two', null],
        },
        of: { type: 'string', pattern: '^a*$', minLength: 0, maxLength: 300, example: { a: ['b'] }, readOnly: true },
        list: { type: 'array', items: { $ref: '#/definitions/Thing' }, minItems: 1, maxItems: 9, uniqueItems: true },
        pair: { type: ['array', 'null'], items: [{ type: 'string' }, { type: 'boolean' }] },
        map: { type: 'object', additionalProperties: { type: 'number' }, minProperties: 1, maxProperties: 2 },
        closed: { type: 'object', additionalProperties: false },
        all: { allOf: [{ type: 'string' }, { $ref: '#/definitions/Other' }], default: { nested: [true] } },
        anything: {},
        'x-property': { type: 'string' },
      },
      externalDocs: { url: 'https://example.com', description: 'more' },
      'x-flag': true,
      'x-list': ['a', { b: null }],
    };
    assert.deepEqual(throughProtobuf(schema), schema);
  });

  it('has every kind of parameter and reference', () => {
    const of = (place: string, more = {}): object => ({ name: place, in: place, type: 'string', ...more });
    const document = {
      swagger: '2.0',
      info: { title: 'T', version: 'v1', 'x-info': 1 },
      security: [{ Token: [] }, { Token: ['read'] }],
      securityDefinitions: { Token: { type: 'apiKey', name: 'authorization', in: 'header', description: 'd' } },
      paths: {
        'x-paths': 'extension',
        '/one/{path}': {
          parameters: [of('path', { required: true, minLength: 1 }), { $ref: '#/parameters/other' }],
          patch: {
            operationId: 'patchOne',
            deprecated: true,
            parameters: [
              { name: 'body', in: 'body', required: true, schema: { type: 'object' } },
              of('query', { allowEmptyValue: true, enum: ['a', 'b'], uniqueItems: true }),
              of('header', { description: 'h', default: 'd' }),
              of('formData', { type: 'array', items: { type: 'integer', maximum: 3 }, collectionFormat: 'csv' }),
            ],
            responses: { 200: { description: 'OK', schema: {} }, default: { $ref: '#/responses/other' } },
            'x-action': 'patch',
          },
        },
      },
    };
    assert.deepEqual(decodeDocument(encoded(document)), document);
  });

  it('leaves out what has no place in a message', () => {
    const schema = { type: 'string', oneOf: [{ type: 'integer' }], nullable: true, pattern: 7, maxLength: 0.5 };
    assert.deepEqual(throughProtobuf(schema), { type: 'string' });
  });

  it('writes values as YAML that has no character YAML forbids', () => {
    const value = 'del\x7f bom\ufeff c1\x80 nel\x85 tab\t quote" emoji\u{1f600}';
    const text = encoded(withSchema({ default: value })).toString('utf8');
    const yaml = text.slice(text.indexOf('"del'), text.indexOf('\u{1f600}"') + 3);
    assert.equal(/[\x7f\x80\ufeff]/.test(yaml), false);
    assert.equal(parse(yaml), value);
  });
});
