// Runs before the compiler: writes TypeScript interfaces for the declared types, a module for each group version, from the
// data files alone. A file is written only when its text changed, so that a build after no change compiles nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const types = resolve(dirname(fileURLToPath(import.meta.url)), '../../services/machinery/types');
const source = join(types, 'data/types');
const target = join(types, 'generated');

const SCALARS = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  double: 'number',
  bytes: 'string',
  time: 'string',
  microTime: 'string',
  duration: 'string',
  quantity: 'string',
  intOrString: 'number | string',
  rawJSON: 'unknown',
};
/** Types whose JSON form is one of several. */
const FORMS = {
  JSONSchemaPropsOrArray: 'JSONSchemaProps | readonly JSONSchemaProps[]',
  JSONSchemaPropsOrBool: 'JSONSchemaProps | boolean',
  JSONSchemaPropsOrStringArray: 'JSONSchemaProps | readonly string[]',
};

/** `rbac.v1` for the keys of `rbac.authorization.<domain>/v1`. */
const moduleOf = (key) => key.slice(0, key.lastIndexOf('.')).replace(/(?:\.[^/]+)?\//, '.');
const nameOf = (key) => key.slice(key.lastIndexOf('.') + 1);
const aliasOf = (module) => module.replace('.', '_');

const declared = new Map();
for (const file of readdirSync(source)) {
  for (const entry of Object.entries(JSON.parse(readFileSync(join(source, file), 'utf8')))) declared.set(...entry);
}

function typeOf(type, module) {
  if (type in SCALARS) return SCALARS[type];
  if (!declared.has(type)) throw new Error(`No declaration of type ${type}`);
  return moduleOf(type) === module ? nameOf(type) : `${aliasOf(moduleOf(type))}.${nameOf(type)}`;
}

const TIMES = new Set(['meta/v1.Time', 'meta/v1.MicroTime']);

function member(field, module) {
  const item = typeOf(field.type, module);
  const name = /^\w+$/.test(field.name) ? field.name : `'${field.name}'`;
  const element = item.includes('|') ? `(${item})` : item;
  const isCollection = field.list === true || field.map === true;
  // What is always written is written as null where there is nothing to write.
  const isNull =
    TIMES.has(field.type) || (field.alwaysEmit === true && (field.list === true || field.nullable === true));
  const form =
    field.map === true ? `Readonly<Record<string, ${item}>>` : field.list === true ? `readonly ${element}[]` : item;
  return `  readonly ${name}?: ${form}${isNull && (isCollection || item !== 'unknown') ? ' | null' : ''};\n`;
}

/** The members of a type, those of inlined types among them; its own come first where names meet. */
function membersOf({ fields = [] }) {
  const shown = fields.filter((field) => field.jsonHidden !== true);
  const own = new Set(shown.filter((field) => field.inline !== true).map(({ name }) => name));
  return shown.flatMap((field) =>
    field.inline === true ? membersOf(declared.get(field.type)).filter(({ name }) => !own.has(name)) : [field],
  );
}

function declaration(key, type, module) {
  const name = nameOf(key);
  if (name in FORMS) return `export type ${name} = ${FORMS[name]};\n`;
  if (type.scalar !== undefined) return `export type ${name} = ${SCALARS[type.scalar]};\n`;
  if (type.listOf !== undefined) return `export type ${name} = readonly ${typeOf(type.listOf, module)}[];\n`;
  return `export interface ${name} {\n${membersOf(type)
    .map((field) => member(field, module))
    .join('')}}\n`;
}

const modules = new Map();
for (const key of declared.keys()) modules.set(moduleOf(key), [...(modules.get(moduleOf(key)) ?? []), key]);

const texts = new Map();
for (const [module, keys] of modules) {
  const body = keys.map((key) => declaration(key, declared.get(key), module)).join('\n');
  const names = keys.map((key) => `  ${nameOf(key)}: ${nameOf(key)};\n`).join('');
  const imports = [...modules.keys()].filter((other) => other !== module && body.includes(`${aliasOf(other)}.`));
  texts.set(
    `${module}.ts`,
    `${imports.map((other) => `import type * as ${aliasOf(other)} from './${other}.js';\n`).join('')}\n${body}\n` +
      `/** All of them, by name. */\nexport interface Types {\n${names}}\n`,
  );
}

/** Of the versions of a resource the one that clients should use: the most stable, then the newest, of those in this release. */
const release = minorOf(JSON.parse(readFileSync(join(types, '../../../package.json'), 'utf8')).version);
function minorOf(version) {
  const [major, minor] = version.split('.');
  return Number(major) * 1000 + Number(minor);
}
const isServed = ({ introduced = '1.0', removed, servedByDefault }) =>
  servedByDefault && minorOf(introduced) <= release && (removed === undefined || minorOf(removed) > release);
const STABILITY = { undefined: 2, beta: 1, alpha: 0 };
function rank(version) {
  const [, major, stability, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  return STABILITY[stability] * 1e6 + Number(major) * 1e3 + Number(minor);
}

/** `configMaps` for `configmaps` of the kind `ConfigMap`, `apiServices` for those of `APIService`. */
function memberOf({ resource, kind }) {
  let common = 0;
  while (resource[common] !== undefined && kind[common]?.toLowerCase() === resource[common]) common++;
  const [acronym = ''] = /^[A-Z]+(?=[A-Z][a-z])/.exec(kind) ?? [kind[0]];
  return acronym.toLowerCase() + kind.slice(acronym.length, common) + resource.slice(common);
}

const resources = new Map();
const served = JSON.parse(readFileSync(join(source, '../resources.json'), 'utf8')).filter(isServed);
for (const entry of served.sort((a, b) => rank(b.version) - rank(a.version))) {
  const { group, resource } = entry;
  const isOther = [...resources.values()].some((it) => it.resource === resource && it.group !== group);
  if ([...resources.values()].some((it) => it.resource === resource && it.group === group)) continue;
  const name = memberOf(entry);
  resources.set(isOther ? `${group.split('.')[0]}${name[0].toUpperCase()}${name.slice(1)}` : name, entry);
}
const objectOf = ({ group, version, kind }) =>
  `${aliasOf(moduleOf(`${group === '' ? 'core' : group}/${version}.${kind}`))}.${kind}`;
const used = new Set([...resources.values()].map((entry) => objectOf(entry).split('.')[0]));
const sorted = [...resources].sort(([a], [b]) => (a < b ? -1 : 1));
texts.set(
  'resources.ts',
  [
    ...[...modules.keys()]
      .filter((module) => used.has(aliasOf(module)))
      .map((module) => `import type * as ${aliasOf(module)} from './${module}.js';`),
    '',
    '/** The objects of each resource, in the version that clients should use. */',
    'export interface Objects {',
    ...sorted.map(([name, entry]) => `  ${name}: ${objectOf(entry)};`),
    '}',
    '',
    '/** Those resources, in the words of the platform. */',
    'export const RESOURCES = {',
    ...sorted.map(([name, { group, version, resource, kind, namespaced }]) => {
      return `  ${name}: ${JSON.stringify({ group, version, resource, kind, namespaced })},`;
    }),
    '} as const;',
    '',
  ].join('\n'),
);

mkdirSync(target, { recursive: true });
for (const old of readdirSync(target)) if (!texts.has(old)) rmSync(join(target, old));
for (const [file, text] of texts) {
  const path = join(target, file);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}
