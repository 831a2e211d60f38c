import type { FieldDeclaration, ScalarType, TypeDeclaration } from '../../types/declarations.js';
import { LATE_METADATA_NUMBERS } from './list.js';

type Types = ReadonlyMap<string, TypeDeclaration>;

/** What the declared scalars are on the wire: a type of Protobuf, or the key of a declared message. */
const SCALARS: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  double: 'double',
  bytes: 'bytes',
  time: 'meta/v1.Time',
  microTime: 'meta/v1.MicroTime',
  duration: 'meta/v1.Duration',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  rawJSON: 'runtime.RawExtension',
};

/** The one message whose numbers differ from those of the same kind in version v1. */
const LATE_METADATA: readonly (readonly [key: string, type: TypeDeclaration])[] = [
  [
    'meta/v1beta1.PartialObjectMetadataList',
    {
      fields: [
        { name: 'metadata', type: 'meta/v1.ListMeta', proto: LATE_METADATA_NUMBERS.metadata },
        { name: 'items', type: 'meta/v1.PartialObjectMetadata', list: true, proto: LATE_METADATA_NUMBERS.items },
      ],
    },
  ],
];

const HEADER = `// Made from the declarations of types by \`make proto\`. Do not edit.
//
// A body is the four bytes 6b 38 73 00 and then a message runtime.Unknown, whose \`raw\` holds the object. A watch is a
// sequence of meta/v1.WatchEvent, each behind its length in four bytes, highest first; \`object.raw\` is a whole body.
syntax = "proto2";
`;

/** `rbac.authorization…/v1.Role` is in file \`rbac/v1.proto\`, message \`Role\`. */
interface Place {
  readonly file: string;
  readonly package: string;
  readonly message: string;
}

/**
 * Files that describe the messages of all declared types to other programs: one for each group version, by its path.
 *
 * @param prefix What the packages' names begin with, the dot included.
 */
export function protoFiles(types: Types, prefix: string): ReadonlyMap<string, string> {
  const all = [...types, ...LATE_METADATA].filter(([key, type]) => hasMessage(key, type));
  const byFile = new Map<string, (readonly [string, TypeDeclaration])[]>();
  for (const entry of all) {
    const { file } = placeOf(entry[0], prefix);
    byFile.set(file, [...(byFile.get(file) ?? []), entry]);
  }
  return new Map([...byFile].map(([file, entries]) => [file, fileText(file, entries, prefix)]));
}

/** Tables have none; nor has what travels in the envelope instead. */
const hasMessage = (key: string, type: TypeDeclaration): boolean =>
  key !== 'meta/v1.TypeMeta' &&
  (type.listOf !== undefined || (type.fields ?? []).every((field) => field.proto !== undefined || isEnvelopes(field)));

const isEnvelopes = ({ inline, proto }: FieldDeclaration): boolean => inline === true && proto === undefined;

function placeOf(key: string, prefix: string): Place {
  const dot = key.lastIndexOf('.');
  const [group = '', version] = key.slice(0, dot).split('/');
  const [short = ''] = group.split('.');
  const path = version === undefined ? [short] : [short, version];
  return { file: `${path.join('/')}.proto`, package: `${prefix}${path.join('.')}`, message: key.slice(dot + 1) };
}

function fileText(file: string, entries: readonly (readonly [string, TypeDeclaration])[], prefix: string): string {
  const imports = new Set<string>();
  const typeName = (type: string): string => {
    const scalar = Object.hasOwn(SCALARS, type) ? SCALARS[type as ScalarType] : type;
    if (!scalar.includes('.')) return scalar;
    const place = placeOf(scalar, prefix);
    if (place.file !== file) imports.add(place.file);
    return `.${place.package}.${place.message}`;
  };
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const messages = sorted.map(([key, type]) => messageText(placeOf(key, prefix).message, type, typeName));
  const { package: name } = placeOf(sorted[0]?.[0] ?? '', prefix);
  const imported = [...imports].sort().map((path) => `import "${path}";\n`);
  return [HEADER, `package ${name};\n`, ...(imported.length === 0 ? [] : [imported.join('')]), ...messages].join('\n');
}

function messageText(
  name: string,
  { fields = [], listOf }: TypeDeclaration,
  typeName: (type: string) => string,
): string {
  const lines =
    listOf === undefined
      ? fields
          .filter((field) => !isEnvelopes(field))
          .sort((a, b) => (a.proto ?? 0) - (b.proto ?? 0))
          .map((field) => fieldText(field, typeName))
      : [`repeated ${typeName(listOf)} items = 1;`];
  return `message ${name} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

function fieldText(field: FieldDeclaration, typeName: (type: string) => string): string {
  const { name, protoName = name, proto = 0, list, map } = field;
  const type = typeName(field.type);
  if (map === true) return `map<string, ${type}> ${protoName} = ${proto};`;
  return `${list === true ? 'repeated' : 'optional'} ${type} ${protoName} = ${proto};`;
}
