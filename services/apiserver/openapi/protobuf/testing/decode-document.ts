import { fromJSON, type MessageTypeDefinition } from '@grpc/proto-loader';

type Members = Readonly<Record<string, unknown>>;

const PRIMITIVE = (first: number): readonly string[] =>
  [
    'string type',
    'string format',
    'PrimitivesItems items',
    'string collection_format',
    'Any default',
    'double maximum',
    'bool exclusive_maximum',
    'double minimum',
    'bool exclusive_minimum',
    'int64 max_length',
    'int64 min_length',
    'string pattern',
    'int64 max_items',
    'int64 min_items',
    'bool unique_items',
    'repeated Any enum',
    'double multiple_of',
    'repeated NamedAny vendor_extension',
  ].map((line, i) => `${line} = ${first + i}`);
const PARAMETER = ['bool required = 1', 'string in = 2', 'string description = 3', 'string name = 4'];

/*
 * Messages as the published proto file has them, as far as the tests need them. Written by hand, so that the table of
 * the encoder is not compared with itself.
 */
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  Any: ['bytes value = 1', 'string yaml = 2'],
  NamedAny: ['string name = 1', 'Any value = 2'],
  NamedPathItem: ['string name = 1', 'PathItem value = 2'],
  NamedResponseValue: ['string name = 1', 'ResponseValue value = 2'],
  NamedSchema: ['string name = 1', 'Schema value = 2'],
  Document: [
    'string swagger = 1',
    'Info info = 2',
    'Paths paths = 8',
    'Definitions definitions = 9',
    'repeated SecurityRequirement security = 12',
    'SecurityDefinitions security_definitions = 13',
    'ExternalDocs external_docs = 15',
    'repeated NamedAny vendor_extension = 16',
  ],
  Info: ['string title = 1', 'string version = 2', 'string description = 3', 'repeated NamedAny vendor_extension = 7'],
  ExternalDocs: ['string description = 1', 'string url = 2'],
  Paths: ['repeated NamedAny vendor_extension = 1', 'repeated NamedPathItem path = 2'],
  PathItem: [
    'string _ref = 1',
    'Operation get = 2',
    'Operation put = 3',
    'Operation post = 4',
    'Operation delete = 5',
    'Operation options = 6',
    'Operation head = 7',
    'Operation patch = 8',
    'repeated ParametersItem parameters = 9',
    'repeated NamedAny vendor_extension = 10',
  ],
  Operation: [
    'repeated string tags = 1',
    'string summary = 2',
    'string description = 3',
    'string operation_id = 5',
    'repeated string produces = 6',
    'repeated string consumes = 7',
    'repeated ParametersItem parameters = 8',
    'Responses responses = 9',
    'repeated string schemes = 10',
    'bool deprecated = 11',
    'repeated NamedAny vendor_extension = 13',
  ],
  ParametersItem: ['Parameter parameter = 1', 'JsonReference json_reference = 2'],
  Parameter: ['BodyParameter body_parameter = 1', 'NonBodyParameter non_body_parameter = 2'],
  BodyParameter: [
    'string description = 1',
    'string name = 2',
    'string in = 3',
    'bool required = 4',
    'Schema schema = 5',
    'repeated NamedAny vendor_extension = 6',
  ],
  NonBodyParameter: [
    'HeaderParameterSubSchema header_parameter_sub_schema = 1',
    'FormDataParameterSubSchema form_data_parameter_sub_schema = 2',
    'QueryParameterSubSchema query_parameter_sub_schema = 3',
    'PathParameterSubSchema path_parameter_sub_schema = 4',
  ],
  HeaderParameterSubSchema: [...PARAMETER, ...PRIMITIVE(5)],
  PathParameterSubSchema: [...PARAMETER, ...PRIMITIVE(5)],
  FormDataParameterSubSchema: [...PARAMETER, 'bool allow_empty_value = 5', ...PRIMITIVE(6)],
  QueryParameterSubSchema: [...PARAMETER, 'bool allow_empty_value = 5', ...PRIMITIVE(6)],
  PrimitivesItems: PRIMITIVE(1),
  JsonReference: ['string _ref = 1', 'string description = 2'],
  Responses: ['repeated NamedResponseValue response_code = 1', 'repeated NamedAny vendor_extension = 2'],
  ResponseValue: ['Response response = 1', 'JsonReference json_reference = 2'],
  Response: ['string description = 1', 'SchemaItem schema = 2', 'repeated NamedAny vendor_extension = 5'],
  SchemaItem: ['Schema schema = 1'],
  Definitions: ['repeated NamedSchema additional_properties = 1'],
  Properties: ['repeated NamedSchema additional_properties = 1'],
  AdditionalPropertiesItem: ['Schema schema = 1', 'bool boolean = 2'],
  ItemsItem: ['repeated Schema schema = 1'],
  SecurityRequirement: ['repeated NamedStringArray additional_properties = 1'],
  NamedStringArray: ['string name = 1', 'StringArray value = 2'],
  StringArray: ['repeated string value = 1'],
  SecurityDefinitions: ['repeated NamedSecurityDefinitionsItem additional_properties = 1'],
  NamedSecurityDefinitionsItem: ['string name = 1', 'SecurityDefinitionsItem value = 2'],
  SecurityDefinitionsItem: ['ApiKeySecurity api_key_security = 2'],
  ApiKeySecurity: ['string type = 1', 'string name = 2', 'string in = 3', 'string description = 4'],
  TypeItem: ['repeated string value = 1'],
  Schema: [
    'string _ref = 1',
    'string format = 2',
    'string title = 3',
    'string description = 4',
    'Any default = 5',
    'double multiple_of = 6',
    'double maximum = 7',
    'bool exclusive_maximum = 8',
    'double minimum = 9',
    'bool exclusive_minimum = 10',
    'int64 max_length = 11',
    'int64 min_length = 12',
    'string pattern = 13',
    'int64 max_items = 14',
    'int64 min_items = 15',
    'bool unique_items = 16',
    'int64 max_properties = 17',
    'int64 min_properties = 18',
    'repeated string required = 19',
    'repeated Any enum = 20',
    'AdditionalPropertiesItem additional_properties = 21',
    'TypeItem type = 22',
    'ItemsItem items = 23',
    'repeated Schema all_of = 24',
    'Properties properties = 25',
    'bool read_only = 27',
    'ExternalDocs external_docs = 29',
    'Any example = 30',
    'repeated NamedAny vendor_extension = 31',
  ],
};

interface Field {
  readonly type: string;
  readonly id: number;
  readonly rule?: 'repeated';
}

const FIELD = /^(repeated )?(\w+) (\w+) = (\d+)$/;
function fieldOf(line: string): readonly [name: string, field: Field] {
  const [, repeated, type = '', name = '', id] = FIELD.exec(line) ?? [];
  return [name, { type, id: Number(id), ...(repeated === undefined ? {} : { rule: 'repeated' }) }];
}
const NESTED = new Map(
  Object.entries(MESSAGES).map(([name, lines]) => [name, { fields: Object.fromEntries(lines.map(fieldOf)) }]),
);
const library = fromJSON({ nested: Object.fromEntries(NESTED) }, { longs: Number, keepCase: true });

/** The document that `bytes` hold, in the form in which JSON has it. */
export function decodeDocument(bytes: Buffer): unknown {
  const message = library['Document'];
  if (message === undefined || !('serialize' in message)) throw new Error('No message Document');
  return jsonOf('Document', (message as MessageTypeDefinition<object, object>).deserialize(bytes)); // no service: see above
}

const isOneOf = new Set([
  'ParametersItem',
  'Parameter',
  'NonBodyParameter',
  'ResponseValue',
  'SchemaItem',
  'AdditionalPropertiesItem',
  'SecurityDefinitionsItem',
]);
const ENTRIES: Readonly<Record<string, string>> = {
  Paths: 'path',
  Responses: 'response_code',
  Definitions: 'additional_properties',
  Properties: 'additional_properties',
  SecurityRequirement: 'additional_properties',
  SecurityDefinitions: 'additional_properties',
};

function jsonOf(type: string, value: unknown): unknown {
  if (!NESTED.has(type)) return value;
  const members = value as Members; // of a message, for the type is one
  if (type === 'Any') return JSON.parse(String(members['yaml']));
  const fields = Object.entries(members).flatMap(([name, of]) => membersOf(type, name, of));
  if (isOneOf.has(type)) return fields[0]?.[1];
  if (type === 'StringArray') return fields[0]?.[1] ?? [];
  if (type !== 'TypeItem' && type !== 'ItemsItem') return Object.fromEntries(fields);
  const items = fields[0]?.[1] as readonly unknown[];
  return items.length === 1 ? items[0] : items;
}

function membersOf(type: string, name: string, value: unknown): (readonly [string, unknown])[] {
  const field = NESTED.get(type)?.fields[name];
  if (field === undefined) throw new Error(`${type} has no ${name}`);
  if (field.rule === undefined) return [[jsonName(name), jsonOf(field.type, value)]];
  const items = (value as readonly unknown[]).map((item) => jsonOf(field.type, item)); // the rule says that it is a list
  if (name !== 'vendor_extension' && name !== ENTRIES[type]) return [[jsonName(name), items]];
  return (items as readonly Members[]).map((entry) => [String(entry['name']), entry['value']]);
}

const jsonName = (name: string): string =>
  name === '_ref' ? '$ref' : name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
