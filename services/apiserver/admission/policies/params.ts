import { jsonValue } from '../../../machinery/cel/json-values.js';
import type { Value } from '../../../machinery/cel/values.js';
import { parseApiVersion } from '../../../machinery/meta/gvk.js';
import { labelSelectorOf, type LabelSelectorObject } from '../../../machinery/selectors/label-selector.js';
import type { ParamKind, ParamRef } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { LiveCatalog } from '../../registry/live-catalog.js';
import { type ResourceTable, type ServedResource } from '../../registry/resources.js';
import { derived, type AdmissionObjects } from '../objects.js';
import type { AdmissionRequest } from '../plugin.js';

/** A policy or a binding that cannot be used as it is: what follows is a matter of the failure policy. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** One object that a policy takes as its parameters. */
export interface Param {
  /** `namespace/name`, '' for none. */
  readonly id: string;
  readonly value: Value;
}

/** What policies get that have no parameters. */
const NO_PARAM: readonly Param[] = [{ id: '', value: null }];

interface ParamSource {
  readonly served: ServedResource;
  readonly read: (object: CachedObject) => Value;
}

export interface ParamsDeps {
  readonly live: Pick<LiveCatalog, 'current'>;
  readonly resources: Pick<ResourceTable, 'served'>;
  readonly objects: Pick<AdmissionObjects, 'cached' | 'list'>;
}

/** How long a request waits for the cache of a resource that has just come. */
const LOADING_MS = 1_000;

/** Finds the parameters of policies, in the caches. */
export class Params {
  readonly #d: ParamsDeps;
  /** Of one version of the served API. By the kinds that policies name. */
  #sources: { readonly of: object; readonly byKind: Map<string, ParamSource | undefined> } | undefined;

  constructor(d: ParamsDeps) {
    this.#d = d;
  }

  /** @throws {ConfigurationError} for a kind that is not served */
  source(kind: ParamKind): ParamSource {
    const { api } = this.#d.live.current;
    if (this.#sources?.of !== api) this.#sources = { of: api, byKind: new Map() };
    const { byKind } = this.#sources;
    const key = `${kind.apiVersion ?? ''} ${kind.kind ?? ''}`;
    if (!byKind.has(key)) byKind.set(key, this.#find(kind));
    const found = byKind.get(key);
    if (found !== undefined) return found;
    throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown(kind)}'`);
  }

  #find({ apiVersion = '', kind }: ParamKind): ParamSource | undefined {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
    const { api } = this.#d.live.current;
    const resources = api.groups.find(({ name }) => name === group)?.versions.find((it) => it.version === version);
    const declaration = resources?.resources.find((it) => it.kind === kind && !it.virtual);
    const served = declaration && this.#d.resources.served(declaration);
    return served && { served, read: derived((object) => jsonValue(served.fromStorage(object))) };
  }

  /** @param ref Of a binding; undefined for one without. @throws {ConfigurationError} */
  async collect(
    kind: ParamKind | undefined,
    ref: ParamRef | undefined,
    request: Pick<AdmissionRequest, 'namespace' | 'signal'>,
  ): Promise<readonly Param[]> {
    if (kind === undefined || ref === undefined) return NO_PARAM;
    const source = this.source(kind);
    const { cache } = source.served.stored;
    if (!cache.loaded && !(await cache.whenLoaded(LOADING_MS, request.signal))) {
      throw new ConfigurationError(`paramKind kind \`${shown(kind)}\` not yet synced to use for admission`);
    }
    const namespace = namespaceOf(source.served, ref, request.namespace);
    const found = this.#look(source.served, ref, namespace);
    if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
      throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
    }
    const { conversion } = source.served;
    const converted = conversion === undefined ? found : await conversion.objects(found, request.signal);
    return converted.map((object) => ({ id: `${object.namespace}/${object.name}`, value: source.read(object) }));
  }

  #look({ stored }: ServedResource, { name = '', selector }: ParamRef, namespace: string): readonly CachedObject[] {
    const { objects } = this.#d;
    if (name !== '') {
      const found = objects.cached(stored.hub, namespace, name);
      return found === undefined ? [] : [found];
    }
    const wanted = labelSelectorOf(selector as LabelSelectorObject); // checked on write
    return objects.list(stored.hub, namespace).filter(({ selectables }) => wanted.matches(selectables.labels));
  }
}

/** '' where there are no namespaces. @throws {ConfigurationError} */
function namespaceOf({ declaration }: ServedResource, { namespace = '' }: ParamRef, ofRequest: string): string {
  if (!declaration.namespaced) {
    if (namespace === '') return '';
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const within = namespace === '' ? ofRequest : namespace;
  if (within !== '') return within;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

function shown({ apiVersion = '', kind = '' }: ParamKind): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}
