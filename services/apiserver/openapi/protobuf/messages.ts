/** A value that is no message. `yaml` is any JSON value, as text. */
export type Scalar = 'text' | 'flag' | 'integer' | 'double' | 'yaml';
export type Kind = Scalar | MessageName;

export interface Field {
  readonly number: number;
  readonly kind: Kind;
  readonly many: boolean;
}

/** Members by name; those that begin with `x-` are extensions. */
interface RecordMessage {
  readonly form: 'record';
  readonly fields: ReadonlyMap<string, Field>;
  readonly extensions: number | undefined;
}

/** Any member is an entry with a name and a value. */
interface MapMessage {
  readonly form: 'map';
  readonly entry: Field;
  readonly extensions: number | undefined;
}

export type MembersMessage = RecordMessage | MapMessage;

/** How the JSON form of a message turns into its fields. */
export type Message =
  | MembersMessage
  /** One value, or a list of them. */
  | { readonly form: 'list'; readonly item: Field }
  /** One of several messages. */
  | { readonly form: 'choice'; readonly choose: (value: unknown) => Field | undefined };

export type MessageName =
  | 'Document'
  | 'Info'
  | 'ExternalDocs'
  | 'Paths'
  | 'PathItem'
  | 'Operation'
  | 'ParametersItem'
  | 'Parameter'
  | 'BodyParameter'
  | 'NonBodyParameter'
  | 'HeaderParameter'
  | 'FormDataParameter'
  | 'QueryParameter'
  | 'PathParameter'
  | 'PrimitivesItems'
  | 'JsonReference'
  | 'Responses'
  | 'ResponseValue'
  | 'Response'
  | 'SchemaItem'
  | 'Definitions'
  | 'Properties'
  | 'Schema'
  | 'AdditionalProperties'
  | 'Items'
  | 'Types'
  | 'SecurityRequirement'
  | 'SecurityDefinitions'
  | 'SecurityDefinition'
  | 'ApiKey';

type Line = readonly [name: string, kind: Kind, many?: 'many'];
const EXTENSIONS = 'extensions';
/** Numbers of fields that our documents never have. */
const ABSENT = 'absent';

const field = (number: number, kind: Kind): Field => ({ number, kind, many: false });

/** The fields of a message, from number 1 on, in the order of their numbers. */
function record(...lines: readonly (Line | typeof EXTENSIONS | typeof ABSENT)[]): RecordMessage {
  const fields = new Map<string, Field>();
  let extensions: number | undefined;
  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (line === EXTENSIONS) extensions = number;
    else if (line !== ABSENT) fields.set(line[0], { number, kind: line[1], many: line[2] === 'many' });
  }
  return { form: 'record', fields, extensions };
}

const map = (entries: number, kind: Kind, extensions?: number): Message => ({
  form: 'map',
  entry: { number: entries, kind, many: true },
  extensions,
});

const list = (kind: Kind): Message => ({ form: 'list', item: { number: 1, kind, many: true } });

const choice = (choose: (value: unknown) => Field | undefined): Message => ({ form: 'choice', choose });

/** Either the thing itself, as field 1, or where it is to be found. */
function orReference(kind: Kind): Message {
  const [itself, reference] = [field(1, kind), field(2, 'JsonReference')];
  return choice((value) => (memberOf(value, '$ref') === undefined ? itself : reference));
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;

const NON_BODY: ReadonlyMap<unknown, Field> = new Map([
  ['header', field(1, 'HeaderParameter')],
  ['formData', field(2, 'FormDataParameter')],
  ['query', field(3, 'QueryParameter')],
  ['path', field(4, 'PathParameter')],
]);
const [BODY, NOT_BODY] = [field(1, 'BodyParameter'), field(2, 'NonBodyParameter')];
const API_KEY = field(2, 'ApiKey');
const [SCHEMA, BOOLEAN] = [field(1, 'Schema'), field(2, 'flag')];

/** Bounds of values, in the order that all messages have them in. */
const BOUNDS: readonly Line[] = [
  ['maximum', 'double'],
  ['exclusiveMaximum', 'flag'],
  ['minimum', 'double'],
  ['exclusiveMinimum', 'flag'],
  ['maxLength', 'integer'],
  ['minLength', 'integer'],
  ['pattern', 'text'],
  ['maxItems', 'integer'],
  ['minItems', 'integer'],
  ['uniqueItems', 'flag'],
];
/** The members of parameters that describe their value; the numbers move, the order does not. */
const PRIMITIVE: readonly Line[] = [
  ['type', 'text'],
  ['format', 'text'],
  ['items', 'PrimitivesItems'],
  ['collectionFormat', 'text'],
  ['default', 'yaml'],
  ...BOUNDS,
  ['enum', 'yaml', 'many'],
  ['multipleOf', 'double'],
];
const PARAMETER: readonly Line[] = [
  ['required', 'flag'],
  ['in', 'text'],
  ['description', 'text'],
  ['name', 'text'],
];

/** A whole document. */
export const DOCUMENT = record(
  ['swagger', 'text'],
  ['info', 'Info'],
  ['host', 'text'],
  ['basePath', 'text'],
  ['schemes', 'text', 'many'],
  ['consumes', 'text', 'many'],
  ['produces', 'text', 'many'],
  ['paths', 'Paths'],
  ['definitions', 'Definitions'],
  ABSENT, // parameters
  ABSENT, // responses
  ['security', 'SecurityRequirement', 'many'],
  ['securityDefinitions', 'SecurityDefinitions'],
  ABSENT, // tags
  ['externalDocs', 'ExternalDocs'],
  EXTENSIONS,
);

/**
 * The messages of openapi.v2 (`openapiv2/OpenAPIv2.proto` of gnostic) that our documents may have; what they never have
 * (other ways to sign in, headers, files) is not here.
 */
export const MESSAGES: Readonly<Record<MessageName, Message>> = {
  Document: DOCUMENT,
  Info: record(
    ['title', 'text'],
    ['version', 'text'],
    ['description', 'text'],
    ['termsOfService', 'text'],
    ABSENT, // contact
    ABSENT, // license
    EXTENSIONS,
  ),
  ExternalDocs: record(['description', 'text'], ['url', 'text'], EXTENSIONS),
  Paths: map(2, 'PathItem', 1),
  PathItem: record(
    ['$ref', 'text'],
    ['get', 'Operation'],
    ['put', 'Operation'],
    ['post', 'Operation'],
    ['delete', 'Operation'],
    ['options', 'Operation'],
    ['head', 'Operation'],
    ['patch', 'Operation'],
    ['parameters', 'ParametersItem', 'many'],
    EXTENSIONS,
  ),
  Operation: record(
    ['tags', 'text', 'many'],
    ['summary', 'text'],
    ['description', 'text'],
    ['externalDocs', 'ExternalDocs'],
    ['operationId', 'text'],
    ['produces', 'text', 'many'],
    ['consumes', 'text', 'many'],
    ['parameters', 'ParametersItem', 'many'],
    ['responses', 'Responses'],
    ['schemes', 'text', 'many'],
    ['deprecated', 'flag'],
    ABSENT, // security
    EXTENSIONS,
  ),
  ParametersItem: orReference('Parameter'),
  Parameter: choice((value) => (memberOf(value, 'in') === 'body' ? BODY : NOT_BODY)),
  BodyParameter: record(
    ['description', 'text'],
    ['name', 'text'],
    ['in', 'text'],
    ['required', 'flag'],
    ['schema', 'Schema'],
    EXTENSIONS,
  ),
  NonBodyParameter: choice((value) => NON_BODY.get(memberOf(value, 'in'))),
  HeaderParameter: record(...PARAMETER, ...PRIMITIVE, EXTENSIONS),
  FormDataParameter: record(...PARAMETER, ['allowEmptyValue', 'flag'], ...PRIMITIVE, EXTENSIONS),
  QueryParameter: record(...PARAMETER, ['allowEmptyValue', 'flag'], ...PRIMITIVE, EXTENSIONS),
  PathParameter: record(...PARAMETER, ...PRIMITIVE, EXTENSIONS),
  PrimitivesItems: record(...PRIMITIVE, EXTENSIONS),
  JsonReference: record(['$ref', 'text'], ['description', 'text']),
  Responses: map(1, 'ResponseValue', 2),
  ResponseValue: orReference('Response'),
  Response: record(
    ['description', 'text'],
    ['schema', 'SchemaItem'],
    ABSENT, // headers
    ABSENT, // examples
    EXTENSIONS,
  ),
  SchemaItem: choice(() => SCHEMA),
  Definitions: map(1, 'Schema'),
  Properties: map(1, 'Schema'),
  Schema: record(
    ['$ref', 'text'],
    ['format', 'text'],
    ['title', 'text'],
    ['description', 'text'],
    ['default', 'yaml'],
    ['multipleOf', 'double'],
    ...BOUNDS,
    ['maxProperties', 'integer'],
    ['minProperties', 'integer'],
    ['required', 'text', 'many'],
    ['enum', 'yaml', 'many'],
    ['additionalProperties', 'AdditionalProperties'],
    ['type', 'Types'],
    ['items', 'Items'],
    ['allOf', 'Schema', 'many'],
    ['properties', 'Properties'],
    ['discriminator', 'text'],
    ['readOnly', 'flag'],
    ABSENT, // xml
    ['externalDocs', 'ExternalDocs'],
    ['example', 'yaml'],
    EXTENSIONS,
  ),
  AdditionalProperties: choice((value) => (typeof value === 'boolean' ? BOOLEAN : SCHEMA)),
  Items: list('Schema'),
  Types: list('text'),
  SecurityRequirement: map(1, 'Types'), // a list of texts, too
  SecurityDefinitions: map(1, 'SecurityDefinition'),
  SecurityDefinition: choice((value) => (memberOf(value, 'type') === 'apiKey' ? API_KEY : undefined)),
  ApiKey: record(['type', 'text'], ['name', 'text'], ['in', 'text'], ['description', 'text'], EXTENSIONS),
};
