import { groupVersionPath } from '../../machinery/meta/gvk.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ServedVersion } from '../registry/served.js';
import type { Answer, Dialect, Operation, Parameter, Schema } from './dialect.js';
import { capitalized, endpointsOf, type Action, type Endpoint } from './operations.js';
import { PRETTY } from './parameters.js';
import { extensions, type Extend, type Schemas } from './schemas.js';

export interface PathWriterDeps {
  readonly dialect: Dialect;
  readonly schemas: Schemas;
  readonly vocabulary: Vocabulary;
  /** The members of a type of options, as parameters. */
  readonly optionsOf: (typeKey: string) => readonly Parameter[];
  /** Whether a finished deletion answers what was deleted. */
  readonly returnsDeleted: (d: ResourceDeclaration) => boolean;
}

/** A GET of a path that belongs to no resource. */
export interface PlainRead {
  readonly path: string;
  readonly tag: string;
  readonly operationId: string;
  readonly description: string;
  /** Key of the type that is answered. */
  readonly answer: string;
  /** Absent: all that objects come in. */
  readonly types?: readonly string[];
}

const [JSON_TYPE, YAML_TYPE] = ['application/json', 'application/yaml'];
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const ANY_TYPE = ['*/*'];
const STREAM = ';stream=watch';

const ANSWERS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };
const CODES: Readonly<Partial<Record<Action, readonly number[]>>> = {
  post: [200, 201, 202],
  put: [200, 201],
  patch: [200, 201],
  delete: [200, 202],
};
const UNAUTHORIZED: Answer = { code: 401, description: 'Unauthorized', types: [] };

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

/** Writes operations into paths, and refers to models while it does. */
export class PathWriter {
  readonly #d: PathWriterDeps;
  readonly #paths = new Map<string, Schema>();
  readonly #extend: Extend;
  readonly #domain: string;
  readonly #objectTypes: readonly string[];
  readonly #listTypes: readonly string[];

  constructor(d: PathWriterDeps) {
    const { reservedDomains, protobufMediaType } = d.vocabulary;
    this.#d = d;
    this.#extend = extensions(d.vocabulary);
    this.#domain = `.${reservedDomains[0] ?? ''}`;
    this.#objectTypes = [JSON_TYPE, YAML_TYPE, protobufMediaType];
    this.#listTypes = [...this.#objectTypes, `${JSON_TYPE}${STREAM}`, `${protobufMediaType}${STREAM}`];
  }

  /** All that was written, by path. */
  paths(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#paths].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  addRead({ path, tag, operationId, description, answer, types = this.#objectTypes }: PlainRead): void {
    const operation = this.#d.dialect.operation({
      tags: [tag],
      operationId,
      description,
      query: [],
      answers: [this.#answer(200, answer, types), UNAUTHORIZED],
      extensions: {},
    });
    this.#paths.set(path, { get: operation });
  }

  addVersion(group: string, { version, resources }: ServedVersion): void {
    this.addRead({
      path: `${groupVersionPath({ group, version })}/`,
      tag: this.#tag(group, version),
      operationId: `get${this.#words(group, version)}APIResources`,
      description: 'Tell the resources of this version.',
      answer: 'meta/v1.APIResourceList',
    });
    for (const d of resources) {
      const endpoints = endpointsOf(d, { returnsDeleted: this.#d.returnsDeleted(d) });
      for (const endpoint of endpoints) this.#addEndpoint(endpoint, group, version);
    }
  }

  addGroup(group: string): void {
    this.addRead({
      path: `/apis/${group}/`,
      tag: this.#tag(group),
      operationId: `get${this.#words(group)}APIGroup`,
      description: 'Tell the versions of this group.',
      answer: 'meta/v1.APIGroup',
    });
  }

  #addEndpoint(e: Endpoint, group: string, version: string): void {
    const { dialect } = this.#d;
    const everywhere = e.action === 'connect' ? e.pathParameters : [...e.pathParameters, PRETTY];
    const known = this.#paths.get(e.path) ?? { parameters: everywhere.map((p) => dialect.parameter(p)) };
    this.#paths.set(e.path, { ...known, [e.method]: dialect.operation(this.#operation(e, group, version)) });
  }

  #operation(e: Endpoint, group: string, version: string): Operation {
    const { group: ofGroup, version: ofVersion, kind } = e.kind;
    const codes = CODES[e.action] ?? [200];
    const types = this.#answerTypes(e);
    return {
      tags: [this.#tag(group, version)],
      operationId: this.#operationId(e, group, version),
      description: e.description,
      query: e.options === undefined ? e.query : [...e.query, ...this.#d.optionsOf(e.options)],
      ...this.#body(e),
      answers: [...codes.map((code) => this.#answer(code, e.answer, types)), UNAUTHORIZED],
      extensions: {
        ...this.#extend('action', e.action),
        ...this.#extend('group-version-kind', { group: ofGroup, kind, version: ofVersion }),
      },
    };
  }

  #answerTypes({ action, answer }: Endpoint): readonly string[] {
    if (action === 'connect') return ANY_TYPE;
    if (answer === undefined) return ['text/plain', ...this.#objectTypes];
    return action === 'list' || action === 'watch' || action === 'watchlist' ? this.#listTypes : this.#objectTypes;
  }

  #body({ body, action }: Endpoint): Pick<Operation, 'body'> | object {
    if (body === undefined) return {};
    const types = action === 'patch' ? PATCH_TYPES : ANY_TYPE;
    const required = action !== 'delete' && action !== 'deletecollection';
    return { body: { schema: this.#d.schemas.ref(body), types, required } };
  }

  #answer(code: number, key: string | undefined, types: readonly string[]): Answer {
    const schema = key === undefined ? { type: 'string' } : this.#d.schemas.ref(key);
    return { code, description: ANSWERS[code] ?? '', schema, types };
  }

  /** `readAppsV1NamespacedDeploymentStatus` */
  #operationId({ action, method, subject }: Endpoint, group: string, version: string): string {
    const between = action === 'deletecollection' ? 'Collection' : action === 'connect' ? capitalized(method) : '';
    return `${WORDS[action]}${this.#words(group, version)}${between}${subject}`;
  }

  /** `AppsV1`, `RbacAuthorization` */
  #words(group: string, version = ''): string {
    return `${capitalized(this.#tag(group))}${capitalized(version)}`;
  }

  /** `apps_v1`, `rbacAuthorization_v1`, `core_v1`; without a version `apps` */
  #tag(group: string, version?: string): string {
    const own = group.endsWith(this.#domain) ? group.slice(0, -this.#domain.length) : group;
    const [first = '', ...rest] = (own === '' ? 'core' : own).split('.');
    return [`${first}${rest.map(capitalized).join('')}`, ...(version === undefined ? [] : [version])].join('_');
  }
}
