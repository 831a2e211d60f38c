import type { Catalog } from '../../machinery/types/declarations.js';
import { groupVersionPath } from '../../machinery/meta/gvk.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ServedGroup, ServedVersion } from '../registry/served.js';
import { DIALECT_2, DIALECT_3, type Answer, type Dialect, type Operation, type Schema } from './dialect.js';
import { capitalized, endpointsOf, type Action, type Endpoint } from './operations.js';
import { PRETTY } from './parameters.js';
import { extensions, Schemas, type Extend } from './schemas.js';

export interface DocumentDeps {
  readonly catalog: Catalog;
  readonly vocabulary: Vocabulary;
  /** `major.minor.patch` of the product. */
  readonly version: string;
}

type Paths = Map<string, Schema>;

const OBJECT_TYPES = ['application/json', 'application/yaml'];
const LIST_TYPES = [...OBJECT_TYPES, 'application/json;stream=watch'];
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json'];
const ANY_TYPE = ['*/*'];

const ANSWERS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };
const CODES: Readonly<Partial<Record<Action, readonly number[]>>> = {
  post: [200, 201, 202],
  put: [200, 201],
  patch: [200, 201],
  delete: [200, 202],
};

/** How operation names begin. */
const WORDS: Readonly<Record<Action, string>> = {
  get: 'read',
  list: 'list',
  post: 'create',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
  watch: 'watch',
  watchlist: 'watch',
  connect: 'connect',
};

/** Writes the operations of group versions into paths, and refers to models while it does. */
class PathWriter {
  readonly paths: Paths = new Map();
  readonly #dialect: Dialect;
  readonly #schemas: Schemas;
  readonly #extend: Extend;
  readonly #domain: string;

  constructor(dialect: Dialect, schemas: Schemas, vocabulary: Vocabulary) {
    this.#dialect = dialect;
    this.#schemas = schemas;
    this.#extend = extensions(vocabulary);
    this.#domain = `.${vocabulary.reservedDomains[0] ?? ''}`;
  }

  add(group: string, { version, resources }: ServedVersion): void {
    this.#addRoot(group, version);
    for (const d of resources) {
      for (const endpoint of endpointsOf(d)) this.#addEndpoint(endpoint, group, version);
    }
  }

  #addRoot(group: string, version: string): void {
    const operation = this.#dialect.operation({
      tags: [this.#tag(group, version)],
      operationId: `get${capitalized(this.#tag(group, capitalized(version)).replace('_', ''))}APIResources`,
      query: [],
      answers: [this.#answer(200, 'meta/v1.APIResourceList', OBJECT_TYPES), UNAUTHORIZED],
      extensions: {},
    });
    this.paths.set(`${groupVersionPath({ group, version })}/`, { get: operation });
  }

  #addEndpoint(e: Endpoint, group: string, version: string): void {
    const known = this.paths.get(e.path) ?? {
      parameters: [...e.pathParameters, PRETTY].map((p) => this.#dialect.parameter(p)),
    };
    this.paths.set(e.path, { ...known, [e.method]: this.#dialect.operation(this.#operation(e, group, version)) });
  }

  #operation(e: Endpoint, group: string, version: string): Operation {
    const { group: ofGroup, version: ofVersion, kind } = e.kind;
    const types = e.answer === undefined ? ANY_TYPE : e.action === 'list' ? LIST_TYPES : OBJECT_TYPES;
    const codes = CODES[e.action] ?? [200];
    return {
      tags: [this.#tag(group, version)],
      operationId: this.#operationId(e, group, version),
      query: e.query,
      ...this.#body(e),
      answers: [...codes.map((code) => this.#answer(code, e.answer, types)), UNAUTHORIZED],
      extensions: {
        ...this.#extend('action', e.action),
        ...this.#extend('group-version-kind', { group: ofGroup, kind, version: ofVersion }),
      },
    };
  }

  #body({ body, action }: Endpoint): Pick<Operation, 'body'> | object {
    if (body === undefined) return {};
    const types = action === 'patch' ? PATCH_TYPES : ANY_TYPE;
    const required = action !== 'delete' && action !== 'deletecollection';
    return { body: { schema: this.#schemas.ref(body), types, required } };
  }

  #answer(code: number, key: string | undefined, types: readonly string[]): Answer {
    const schema = key === undefined ? { type: 'string' } : this.#schemas.ref(key);
    return { code, description: ANSWERS[code] ?? '', schema, types };
  }

  /** `readAppsV1NamespacedDeploymentStatus` */
  #operationId({ action, method, subject }: Endpoint, group: string, version: string): string {
    const groupVersion = capitalized(this.#tag(group, capitalized(version)).replace('_', ''));
    const between = action === 'deletecollection' ? 'Collection' : action === 'connect' ? capitalized(method) : '';
    return `${WORDS[action]}${groupVersion}${between}${subject}`;
  }

  /** `apps_v1`, `rbacAuthorization_v1`, `core_v1` */
  #tag(group: string, version: string): string {
    const own = group.endsWith(this.#domain) ? group.slice(0, -this.#domain.length) : group;
    const [first = '', ...rest] = (own === '' ? 'core' : own).split('.');
    return `${[first, ...rest.map(capitalized)].join('')}_${version}`;
  }
}

const UNAUTHORIZED: Answer = { code: 401, description: 'Unauthorized', types: [] };

function write(d: DocumentDeps, dialect: Dialect, served: readonly ServedGroup[]): { paths: object; models: object } {
  const schemas = new Schemas({ types: d.catalog.types, vocabulary: d.vocabulary, dialect });
  const writer = new PathWriter(dialect, schemas, d.vocabulary);
  for (const { name, versions } of served) for (const version of versions) writer.add(name, version);
  const paths = Object.fromEntries([...writer.paths].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { paths, models: schemas.models() };
}

const info = ({ vocabulary, version }: DocumentDeps): object => ({
  title: vocabulary.serverName,
  version: `v${version}`,
});

/** The document of one group version. */
export function documentV3(d: DocumentDeps, group: string, version: ServedVersion): object {
  const { paths, models } = write(d, DIALECT_3, [{ name: group, versions: [version] }]);
  return { openapi: '3.0.0', info: info(d), paths, components: { schemas: models } };
}

/** One document of everything, for clients of the time before version 3. */
export function documentV2(d: DocumentDeps, groups: readonly ServedGroup[]): object {
  const { paths, models } = write(d, DIALECT_2, groups);
  return { swagger: '2.0', info: info(d), paths, definitions: models };
}
