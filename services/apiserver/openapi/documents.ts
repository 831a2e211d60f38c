import { loadRules } from '../../machinery/defaulting/rules.js';
import type { GroupVersion } from '../../machinery/meta/gvk.js';
import type { Catalog, ResourceDeclaration } from '../../machinery/types/declarations.js';
import { loadDescriptions, type Descriptions } from '../../machinery/types/descriptions.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../machinery/work/work.js';
import { DIALECT_2, DIALECT_3, type Dialect, type Parameter } from './dialect.js';
import { optionParameters } from './parameters.js';
import type { Part } from './parts.js';
import { PathWriter } from './path-writer.js';
import { Schemas } from './schemas.js';
import { staticDefaults, type StaticDefaults } from './static-defaults.js';

export interface DocumentDeps {
  /** Built-in types and resources. */
  readonly catalog: Catalog;
  readonly vocabulary: Vocabulary;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  /** Whether a finished deletion answers what was deleted. */
  readonly returnsDeleted: (d: ResourceDeclaration) => boolean;
}

const BEARER = 'BearerToken';
const SCHEMES = {
  [BEARER]: {
    type: 'apiKey',
    name: 'authorization',
    in: 'header',
    description: 'The word Bearer, a space and a token.',
  },
};

/** Writes documents of declared types. Reads data files: to be made when a document is asked for. */
export class DocumentWriter {
  readonly #d: DocumentDeps;
  readonly #descriptions: Descriptions;
  readonly #defaults: StaticDefaults;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #info: object;

  constructor(d: DocumentDeps) {
    const { translate } = d.vocabulary;
    this.#d = d;
    this.#descriptions = loadDescriptions(translate);
    this.#defaults = staticDefaults(loadRules(translate));
    this.#groupVersions = groupVersionsOf(d.catalog);
    this.#info = { title: d.vocabulary.serverName, version: `v${d.version}` };
  }

  /** The document of one part. @param types What its resources are declared among. */
  *v3(part: Part, types = this.#d.catalog.types): Work<object> {
    const { paths, schemas } = this.#begin(DIALECT_3, types);
    part.write(paths);
    yield;
    yield* schemas.settle();
    const components = { schemas: schemas.models(), securitySchemes: SCHEMES };
    return { openapi: '3.0.0', info: this.#info, paths: paths.paths(), components };
  }

  /** One document of everything, for clients of the time before version 3. */
  *v2(parts: readonly Part[], types = this.#d.catalog.types): Work<object> {
    const { paths, schemas } = this.#begin(DIALECT_2, types);
    for (const part of parts) {
      part.write(paths);
      yield;
      yield* schemas.settle();
    }
    return {
      swagger: '2.0',
      info: this.#info,
      paths: paths.paths(),
      definitions: schemas.models(),
      securityDefinitions: SCHEMES,
      security: [{ [BEARER]: [] }],
    };
  }

  #begin(dialect: Dialect, types: Catalog['types']): { readonly paths: PathWriter; readonly schemas: Schemas } {
    const { vocabulary, returnsDeleted } = this.#d;
    const descriptions = this.#descriptions;
    const groupVersions = this.#groupVersions;
    const schemas = new Schemas({ types, descriptions, defaults: this.#defaults, vocabulary, dialect, groupVersions });
    const optionsOf = (key: string): readonly Parameter[] => optionParameters(types, descriptions, key);
    return { paths: new PathWriter({ dialect, schemas, vocabulary, optionsOf, returnsDeleted }), schemas };
  }
}

/** All that are built in, whether served or not: documents do not change with what else is served. */
function groupVersionsOf({ resources }: Catalog): readonly GroupVersion[] {
  const found = new Map(resources.map(({ group, version }) => [`${group}/${version}`, { group, version }] as const));
  return [...found.values()];
}
