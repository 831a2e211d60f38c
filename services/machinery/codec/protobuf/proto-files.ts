import type { FieldDeclaration, ScalarType, TypeDeclaration } from '../../types/declarations.js';
import type { Type, TypeGraph } from '../../types/graph.js';
import { LATE_METADATA_NUMBERS } from './list.js';

/** The wire types of the declared scalars: a type of Protobuf, or the key of a declared message. */
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
const LATE_METADATA = new Map<string, TypeDeclaration>([
  [
    'meta/v1beta1.PartialObjectMetadataList',
    {
      fields: [
        { name: 'metadata', type: 'meta/v1.ListMeta', proto: LATE_METADATA_NUMBERS.metadata },
        { name: 'items', type: 'meta/v1.PartialObjectMetadata', list: true, proto: LATE_METADATA_NUMBERS.items },
      ],
    },
  ],
]);

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
export function protoFiles(declared: TypeGraph, prefix: string): ReadonlyMap<string, string> {
  const graph = declared.with(LATE_METADATA, []);
  const byFile = new Map<string, Type[]>();
  for (const type of [...graph.keys()].map((key) => graph.of(key)).filter(hasMessage)) {
    const { file } = placeOf(type.key, prefix);
    byFile.set(file, [...(byFile.get(file) ?? []), type]);
  }
  return new Map([...byFile].map(([file, types]) => [file, fileText(file, types, prefix)]));
}

/** Tables have none; nor has what travels in the envelope instead. */
const hasMessage = ({ key, form, declaration: { fields = [] } }: Type): boolean =>
  key !== 'meta/v1.TypeMeta' &&
  (form === 'list' || fields.every((field) => field.proto !== undefined || isEnvelopes(field)));

const isEnvelopes = ({ inline, proto }: FieldDeclaration): boolean => inline === true && proto === undefined;

function placeOf(key: string, prefix: string): Place {
  const dot = key.lastIndexOf('.');
  const [group = '', version] = key.slice(0, dot).split('/');
  const [short = ''] = group.split('.');
  const path = version === undefined ? [short] : [short, version];
  return { file: `${path.join('/')}.proto`, package: `${prefix}${path.join('.')}`, message: key.slice(dot + 1) };
}

function fileText(file: string, types: readonly Type[], prefix: string): string {
  const imports = new Set<string>();
  const typeName = (type: string): string => {
    const scalar = Object.hasOwn(SCALARS, type) ? SCALARS[type as ScalarType] : type;
    if (!scalar.includes('.')) return scalar;
    const place = placeOf(scalar, prefix);
    if (place.file !== file) imports.add(place.file);
    return `.${place.package}.${place.message}`;
  };
  const sorted = types.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const messages = sorted.map(({ key, declaration }) =>
    messageText(placeOf(key, prefix).message, declaration, typeName),
  );
  const { package: name } = placeOf(sorted[0]?.key ?? '', prefix);
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
