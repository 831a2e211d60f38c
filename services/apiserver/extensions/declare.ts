import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '../../machinery/meta/object.js';
import { typeKey } from '../../machinery/types/catalog.js';
import { readSchema, type SchemaJson } from '../../machinery/structural/read-schema.js';
import type { Structural } from '../../machinery/structural/structural.js';
import type {
  ColumnDeclaration,
  ResourceDeclaration,
  ScalePaths,
  SelectableField,
  SubresourceDeclaration,
  TypeDeclaration,
} from '../../machinery/types/declarations.js';
import type {
  CustomResourceConversion,
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ObjectConverter } from '../registry/conversion/converter.js';
import type { Addition } from '../registry/live-catalog.js';
import { schemaOf, specOf, versionsOf, type Definition } from './definition.js';
import { simplePath } from './simple-path.js';
import { customStrategy } from './strategy.js';

/** A definition, and how to read it again: of a thousand definitions few are looked into. */
export interface Declared {
  readonly definition: Definition;
  readonly again: () => Definition;
  /** Whether its objects may not come any more, for it is going. */
  readonly isTerminating: () => boolean;
}

export interface DeclaringDeps {
  readonly vocabulary: Vocabulary;
  /** Makes what asks a webhook. @param definition Its name. */
  readonly converterOf: (definition: string, conversion: CustomResourceConversion) => ObjectConverter;
}

/** What a definition adds to what is served. @throws {Error} for one without a version that is stored */
export function declare({ definition, again, isTerminating }: Declared, d: DeclaringDeps): Addition {
  const { vocabulary } = d;
  const versions = versionsOf(definition);
  const storage = versions.find((version) => version.storage === true);
  if (storage === undefined) throw new Error(`${definition.metadata.name ?? ''} has no version that is stored`);
  const schemas = new DefinedSchemas(again, vocabulary.openApiExtension);
  const { group = '' } = specOf(definition);
  const resources = versions.map((version) => resourceOf(definition, version, { group, version: storage.name ?? '' }));
  const byVersion = new Map(resources.map((resource) => [apiVersionOf(resource), resource]));
  const schemaOfVersion = (apiVersion: string): Structural => schemas.of(apiVersion.slice(apiVersion.indexOf('/') + 1));
  const converter = converterFor(definition, d);
  return {
    types: new Map(versions.flatMap((version) => typesOf(definition, version.name ?? '', schemas))),
    resources: resources as [ResourceDeclaration, ...ResourceDeclaration[]], // one of them is stored
    strategyFor: (hub) => {
      const scale = (apiVersion: string): ScalePaths | undefined => byVersion.get(apiVersion)?.scale;
      return customStrategy(hub, { schema: schemaOfVersion, scale, isTerminating });
    },
    reading: converter !== undefined || knowTheSame(versions) ? 'once' : 'inViews',
    converter,
  };
}

/** Of one version there is nothing to convert. */
function converterFor(definition: Definition, { converterOf }: DeclaringDeps): ObjectConverter | undefined {
  const { conversion } = specOf(definition);
  if (conversion?.strategy !== 'Webhook' || versionsOf(definition).length < 2) return undefined;
  return converterOf(definition.metadata.name ?? '', conversion);
}

/** Versions that know different members cannot share what is stored: each is shown what it knows of it. */
const knowTheSame = (versions: readonly CustomResourceDefinitionVersion[]): boolean =>
  versions.every((version) => isDeepStrictEqual(schemaOf(version), schemaOf(versions[0] ?? {})));

/** The schemas of a definition by version, read when the first of them is asked for. */
class DefinedSchemas {
  readonly #again: () => Definition;
  readonly #extension: Vocabulary['openApiExtension'];
  readonly #read = new Map<string, Structural>();

  constructor(again: () => Definition, extension: Vocabulary['openApiExtension']) {
    this.#again = again;
    this.#extension = extension;
  }

  of(version: string): Structural {
    let schema = this.#read.get(version);
    if (schema === undefined) this.#read.set(version, (schema = readSchema(this.json(version), this.#extension)));
    return schema;
  }

  json(version: string): SchemaJson {
    return schemaOf(versionsOf(this.#again()).find(({ name }) => name === version) ?? {});
  }
}

const TYPE_META = { name: 'typeMeta', type: 'meta/v1.TypeMeta', inline: true } as const;

function typesOf(definition: Definition, version: string, schemas: DefinedSchemas): [string, TypeDeclaration][] {
  const { group = '', names: { kind = '', listKind = '' } = {} } = specOf(definition);
  const own = typeKey(group, version, kind);
  const fields = [TYPE_META, { name: 'metadata', type: 'meta/v1.ObjectMeta', alwaysEmit: true }] as const;
  const items = { name: 'items', type: own, list: true, required: true, alwaysEmit: true } as const;
  return [
    [own, { kind: true, fields, custom: { schema: () => schemas.of(version), json: () => schemas.json(version) } }],
    [
      typeKey(group, version, listKind),
      {
        kind: true,
        fields: [TYPE_META, { name: 'metadata', type: 'meta/v1.ListMeta', alwaysEmit: true }, items],
      },
    ],
  ];
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
const PART_VERBS = ['get', 'patch', 'update'] as const;

function resourceOf(
  definition: Definition,
  version: CustomResourceDefinitionVersion,
  storage: ResourceDeclaration['storage'],
): ResourceDeclaration {
  const { group = '', names = {}, scope } = specOf(definition);
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const { name = '', subresources, deprecated, deprecationWarning } = version;
  const { scale } = subresources ?? {};
  return {
    group,
    version: name,
    resource: plural,
    singular,
    kind,
    listKind,
    namespaced: scope === 'Namespaced',
    shortNames,
    categories,
    verbs: VERBS,
    subresources: subresourcesOf(version, kind),
    virtual: false,
    type: typeKey(group, name, kind),
    storage,
    servedByDefault: version.served === true,
    selectableFields: selectableFieldsOf(version),
    table: { columns: columnsOf(version.additionalPrinterColumns) },
    nameRule: 'dns1123-subdomain',
    bareFinalizers: 'any', // `strategy.ts` warns of them
    unconditionalUpdate: false,
    createOnUpdate: false,
    ...(scale === undefined ? {} : { scale: scalePathsOf(scale) }),
    ...(deprecated === true ? { warning: deprecationWarning ?? `${group}/${name} ${kind} is deprecated` } : {}),
  };
}

function subresourcesOf({ subresources }: CustomResourceDefinitionVersion, kind: string): SubresourceDeclaration[] {
  const { status, scale } = subresources ?? {};
  return [
    ...(status === undefined ? [] : [{ name: 'status', kind, verbs: PART_VERBS }]),
    ...(scale === undefined
      ? []
      : [{ name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: PART_VERBS }]),
  ];
}

const scalePathsOf = (scale: CustomResourceSubresourceScale): ScalePaths => ({
  wanted: simplePath(scale.specReplicasPath ?? '') ?? [],
  present: simplePath(scale.statusReplicasPath ?? '') ?? [],
  selector: simplePath(scale.labelSelectorPath ?? ''),
});

/** Names are what every resource can be selected by. */
const BY_NAME: readonly SelectableField[] = ['name', 'namespace'].map((member) => ({
  key: `metadata.${member}`,
  paths: [['metadata', member]],
  absent: '',
}));

const selectableFieldsOf = ({ selectableFields = [] }: CustomResourceDefinitionVersion): readonly SelectableField[] => [
  ...BY_NAME,
  ...selectableFields.map(({ jsonPath = '' }) => ({
    key: jsonPath.replace(/^\./, ''),
    paths: [jsonPath.slice(1).split('.')], // names behind dots: see followPath()
    absent: '',
  })),
];

const NAME: ColumnDeclaration = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among its kind in its namespace.',
  path: 'metadata.name',
};

const AGE: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

const columnsOf = (own: readonly CustomResourceColumnDefinition[] = []): readonly ColumnDeclaration[] => [
  NAME,
  ...(own.length === 0 ? [AGE] : own).map(columnOf),
];

const columnOf = (column: CustomResourceColumnDefinition): ColumnDeclaration => ({
  name: column.name ?? '',
  type: (column.type ?? 'string') as ColumnDeclaration['type'], // checked as the definition was written
  format: column.format ?? '',
  description: column.description ?? '',
  priority: column.priority ?? 0,
  jsonPath: column.jsonPath ?? '',
  show: 'custom',
  args: [column.type ?? 'string'],
  or: null,
});
