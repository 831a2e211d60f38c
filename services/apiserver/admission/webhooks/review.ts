import { randomUUID } from 'node:crypto';
import { apiVersionOf, type ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { ResourceTable } from '../../registry/resources.js';
import type { AdmissionRequest, GroupVersionKind } from '../plugin.js';
import { kindOf } from './matching.js';
import { isNamespace } from './selecting.js';

/** Versions of reviews that this server knows (spec 2, 4.5). */
const REVIEW_VERSIONS: ReadonlySet<string> = new Set(['v1', 'v1beta1']);

/** The first one of these that this server knows. */
export const reviewVersion = (accepted: readonly string[]): string | undefined =>
  accepted.find((version) => REVIEW_VERSIONS.has(version));

/** A review as it is sent. */
export interface Review {
  readonly uid: string;
  /** Of the review, e.g. `admission.<domain>/v1`. */
  readonly apiVersion: string;
  readonly body: Buffer;
}

export interface ReviewDeps {
  readonly vocabulary: Pick<Vocabulary, 'groups' | 'metaGroup'>;
  readonly resources: Pick<ResourceTable, 'served'>;
}

/** The object of a request in a version that a webhook knows. */
function shownAs(
  { resources }: Pick<ReviewDeps, 'resources'>,
  { kind, resource }: Pick<AdmissionRequest, 'kind' | 'resource'>,
  as: ResourceDeclaration,
  object: ApiObject,
): ApiObject {
  if (kind.kind !== resource.kind) return object; // of a sub-resource: as it is sent
  return resources.served(as)?.fromStorage(object) ?? object;
}

/**
 * Brings states of a request into a version that a webhook knows, where another server has to be asked for that; undefined
 * where there is nothing to wait for.
 *
 * @throws {StatusError} InternalError @throws `signal.reason`
 */
export function converting(
  { resources }: Pick<ReviewDeps, 'resources'>,
  { kind, resource }: Pick<AdmissionRequest, 'kind' | 'resource'>,
  as: ResourceDeclaration,
): ((state: ApiObject, signal: AbortSignal) => Promise<ApiObject>) | undefined {
  if (as === resource || kind.kind !== resource.kind) return undefined;
  const conversion = resources.served(as)?.conversion;
  return conversion && ((state, signal) => conversion.state(state, signal));
}

/** What a request is about, as reviews and expressions know it: without states and options. @param as The form that is shown. */
export function aboutRequest(request: AdmissionRequest, as: ResourceDeclaration): object {
  const { resource, subresource, kind, namespace, name, operation, user } = request;
  const within = isNamespace(request) ? name : namespace;
  const { group, version, kind: requestKind } = kind;
  return {
    kind:
      as === resource ? ({ group, version, kind: requestKind } satisfies GroupVersionKind) : kindOf(as, subresource),
    resource: nameOf(as),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group, version, kind: requestKind },
    requestResource: nameOf(resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(within === '' ? {} : { namespace: within }),
    operation,
    userInfo: userInfo(user),
  };
}

/** Writes reviews of one state of a request: what several webhooks are sent is written once. */
export class ReviewWriter {
  readonly #d: ReviewDeps;
  readonly #request: AdmissionRequest;
  readonly #states = new Map<ResourceDeclaration, string>();
  /** States in versions that another server has brought them into. */
  readonly #converted = new Map<ResourceDeclaration, ReadonlyMap<ApiObject, ApiObject>>();
  #rest: string | undefined;

  constructor(d: ReviewDeps, request: AdmissionRequest) {
    this.#d = d;
    this.#request = request;
  }

  /** To be awaited before `write`, where it is a promise. @throws {StatusError} InternalError @throws `signal.reason` */
  ready(as: ResourceDeclaration, signal: AbortSignal): Promise<void> | undefined {
    if (this.#converted.has(as)) return undefined;
    const convert = converting(this.#d, this.#request, as);
    return convert && this.#convert(as, (state) => convert(state, signal));
  }

  async #convert(as: ResourceDeclaration, convert: (state: ApiObject) => Promise<ApiObject>): Promise<void> {
    const { object, oldObject } = this.#request;
    const states = [object, oldObject].filter((state) => state !== undefined);
    const converted = await Promise.all(states.map(async (state) => [state, await convert(state)] as const));
    this.#converted.set(as, new Map(converted));
  }

  /** A state of the request as a webhook is shown it. */
  shown(as: ResourceDeclaration, state: ApiObject): ApiObject {
    return this.#converted.get(as)?.get(state) ?? shownAs(this.#d, this.#request, as, state);
  }

  /** @param version Of the review. */
  write(version: string, as: ResourceDeclaration): Review {
    const uid = randomUUID();
    const apiVersion = `${this.#d.vocabulary.groups.admission}/${version}`;
    const head = JSON.stringify({ kind: 'AdmissionReview', apiVersion });
    const about = JSON.stringify({ uid, ...aboutRequest(this.#request, as) });
    const text = `${head.slice(0, -1)},"request":${about.slice(0, -1)},${this.#stateOf(as)},${this.#others()}}}`;
    return { uid, apiVersion, body: Buffer.from(text) };
  }

  /** Both states, as members of a review. */
  #stateOf(as: ResourceDeclaration): string {
    let text = this.#states.get(as);
    if (text === undefined) {
      const { object, oldObject } = this.#request;
      text = `"object":${this.#shown(as, object)},"oldObject":${this.#shown(as, oldObject)}`;
      this.#states.set(as, text);
    }
    return text;
  }

  #shown(as: ResourceDeclaration, object: ApiObject | undefined): string {
    if (object === undefined) return 'null';
    const shown = this.shown(as, object);
    if (this.#request.operation !== 'CONNECT') return JSON.stringify(shown);
    const { metadata, ...options } = shown; // options of connections have none
    return JSON.stringify(options);
  }

  #others(): string {
    return (this.#rest ??= this.#writeOthers());
  }

  #writeOthers(): string {
    const { dryRun } = this.#request;
    return JSON.stringify({ dryRun, options: optionsOf(this.#d, this.#request) }).slice(1, -1);
  }
}

/** The options of a request, with their kind; null for none. */
export function optionsOf(
  { vocabulary }: Pick<ReviewDeps, 'vocabulary'>,
  { options }: Pick<AdmissionRequest, 'options'>,
): object | null {
  if (options === undefined) return null;
  const { kind, apiVersion: _, ...members } = options;
  return { kind, apiVersion: apiVersionOf({ group: vocabulary.metaGroup, version: 'v1' }), ...members };
}

const nameOf = ({ group, version, resource }: ResourceDeclaration): object => ({ group, version, resource });

function userInfo({ name, uid, groups, extra }: AdmissionRequest['user']): object {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
