import { customSchema2, customSchema3, type CustomWords, type Identity } from './custom-schemas.js';

/** A schema or a part of a document; both are JSON objects. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'boolean' | 'integer' | 'string';
  readonly description: string;
}

/** One operation, before it is written in a dialect. */
export interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly description: string;
  readonly query: readonly Parameter[];
  readonly body?: { readonly schema: Schema; readonly types: readonly string[]; readonly required: boolean };
  readonly answers: readonly Answer[];
  readonly extensions: Schema;
}

export interface Answer {
  readonly code: number;
  readonly description: string;
  readonly schema?: Schema;
  readonly types: readonly string[];
}

/** Where versions 2 and 3 of OpenAPI differ. */
export interface Dialect {
  /** The prefix of references. */
  readonly modelsAt: string;
  readonly intOrString: Schema;
  readonly quantity: Schema;
  withDefault(schema: Schema, value: unknown): Schema;
  /** A schema, which may be a reference, with more members. */
  withSiblings(schema: Schema, members: Schema): Schema;
  parameter(p: Parameter): Schema;
  operation(o: Operation): Schema;
  /** The schema of a custom kind. */
  custom(schema: Schema, words: CustomWords, identity: Identity): Schema;
}

const empty = (members: Schema): boolean => Object.keys(members).length === 0;
const isRef = (schema: Schema): boolean => '$ref' in schema;

/** Version 2 knows no defaults of references, and clients of that time none at all. */
export const DIALECT_2: Dialect = {
  modelsAt: '#/definitions/',
  intOrString: { type: 'string', format: 'int-or-string' },
  quantity: { type: 'string' },
  withDefault: (schema) => schema,
  custom: customSchema2,
  withSiblings: (schema, members) => ({ ...schema, ...members }),
  parameter: (p) => ({
    uniqueItems: true,
    type: p.type,
    description: p.description,
    name: p.name,
    in: p.in,
    ...(p.in === 'path' ? { required: true } : {}),
  }),
  operation: ({ tags, operationId, description, query, body, answers, extensions }) => ({
    consumes: body?.types ?? ['*/*'],
    produces: [...new Set(answers.flatMap((a) => a.types))],
    schemes: ['https'],
    tags,
    description,
    operationId,
    parameters: [
      ...(body === undefined ? [] : [{ name: 'body', in: 'body', ...required(body), schema: body.schema }]),
      ...query.map((p) => DIALECT_2.parameter(p)),
    ],
    responses: Object.fromEntries(
      answers.map(({ code, description, schema }) => [
        String(code),
        { description, ...(schema === undefined ? {} : { schema }) },
      ]),
    ),
    ...extensions,
  }),
};

/** In version 3 a reference stands alone: what is said beside it goes round an `allOf`. */
export const DIALECT_3: Dialect = {
  modelsAt: '#/components/schemas/',
  intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  custom: customSchema3,
  withDefault: (schema, value) => (value === undefined ? schema : DIALECT_3.withSiblings(schema, { default: value })),
  withSiblings: (schema, members) => {
    if (empty(members)) return schema;
    return isRef(schema) ? { allOf: [schema], ...members } : { ...schema, ...members };
  },
  parameter: (p) => ({
    name: p.name,
    in: p.in,
    description: p.description,
    ...(p.in === 'path' ? { required: true } : {}),
    schema: { type: p.type, uniqueItems: true },
  }),
  operation: ({ tags, operationId, description, query, body, answers, extensions }) => ({
    tags,
    description,
    operationId,
    parameters: query.map((p) => DIALECT_3.parameter(p)),
    ...(body === undefined ? {} : { requestBody: { content: content(body.types, body.schema), ...required(body) } }),
    responses: Object.fromEntries(
      answers.map(({ code, description, schema, types }) => [
        String(code),
        { description, ...(schema === undefined ? {} : { content: content(types, schema) }) },
      ]),
    ),
    ...extensions,
  }),
};

const content = (types: readonly string[], schema: Schema): Schema =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

const required = (body: { readonly required: boolean }): Schema => (body.required ? { required: true } : {});
