import { authorizer } from '../../../machinery/cel/libraries/authorizer.js';
import { jsonValue } from '../../../machinery/cel/json-values.js';
import type { Value } from '../../../machinery/cel/values.js';
import { hasReason, notFound } from '../../../machinery/meta/status.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import { NAMESPACES } from '../namespaces.js';
import { derived, type AdmissionObjects } from '../objects.js';
import type { AdmissionRequest } from '../plugin.js';
import { aboutRequest, optionsOf, ReviewWriter, type ReviewDeps } from '../webhooks/review.js';
import { isNamespace } from '../webhooks/selecting.js';
import { AccessAnswers, type Decide } from './asking.js';

export interface RequestValuesDeps extends ReviewDeps {
  readonly objects: Pick<AdmissionObjects, 'present'>;
  readonly decide: Decide;
}

const namespaceValue = derived(({ metadata, ...members }) => {
  const { managedFields: _, ...shown } = metadata;
  return jsonValue({ metadata: shown, ...members });
});

/** What expressions may name of a request. States are read when they are asked for, and as they are then. */
export class RequestValues {
  readonly #d: RequestValuesDeps;
  readonly #request: AdmissionRequest;
  readonly #authorizer: Value;
  readonly #about = new Map<ResourceDeclaration, Value>();
  #states = new Map<ResourceDeclaration, Readonly<Record<string, Value>>>();
  /** Shows states as webhooks would see them. */
  #writer: ReviewWriter;
  #namespace: Promise<Value> | undefined;

  constructor(d: RequestValuesDeps, request: AdmissionRequest) {
    this.#d = d;
    this.#request = request;
    this.#writer = new ReviewWriter(d, request);
    const { resource, subresource, namespace, name } = request;
    const own = { group: resource.group, resource: resource.resource, subresource, namespace, name };
    this.#authorizer = authorizer(new AccessAnswers(request, d.decide).ask, own);
  }

  /** The object has been changed. */
  changed(): void {
    this.#states = new Map();
    this.#writer = new ReviewWriter(this.#d, this.#request);
  }

  /**
   * @param as The form in which the states are shown.
   * @throws {StatusError} NotFound, for the namespace of the request; InternalError, for states that cannot be converted
   */
  async of(as: ResourceDeclaration, params: Value): Promise<Readonly<Record<string, Value>>> {
    return { ...(await this.plain(as)), params, namespaceObject: await (this.#namespace ??= this.#namespaceObject()) };
  }

  /** Without parameters, and with nothing looked up. @throws {StatusError} InternalError */
  async plain(as: ResourceDeclaration): Promise<Readonly<Record<string, Value>>> {
    return { ...(await this.#statesAs(as)), request: this.#aboutAs(as), authorizer: this.#authorizer };
  }

  /** A state of the request in a form that it has been shown in. */
  shown(as: ResourceDeclaration, state: ApiObject): ApiObject {
    return this.#writer.shown(as, state);
  }

  async #statesAs(as: ResourceDeclaration): Promise<Readonly<Record<string, Value>>> {
    let states = this.#states.get(as);
    if (states === undefined) {
      const converted = this.#writer.ready(as, this.#request.signal);
      if (converted !== undefined) {
        this.#request.leaveTurn();
        await converted;
      }
      const { object, oldObject } = this.#request;
      states = { object: this.#shown(as, object), oldObject: this.#shown(as, oldObject) };
      this.#states.set(as, states);
    }
    return states;
  }

  #shown(as: ResourceDeclaration, object: ApiObject | undefined): Value {
    if (object === undefined) return null;
    const shown = this.#writer.shown(as, object);
    if (this.#request.operation !== 'CONNECT') return jsonValue(shown);
    const { metadata, ...options } = shown; // options of connections have none
    return jsonValue(options);
  }

  #aboutAs(as: ResourceDeclaration): Value {
    let about = this.#about.get(as);
    if (about === undefined) {
      const { dryRun } = this.#request;
      about = jsonValue({
        ...aboutRequest(this.#request, as),
        dryRun,
        options: optionsOf(this.#d, this.#request) ?? undefined,
      });
      this.#about.set(as, about);
    }
    return about;
  }

  /** Null outside of namespaces, and for namespaces themselves. */
  async #namespaceObject(): Promise<Value> {
    const { namespace } = this.#request;
    if (namespace === '' || isNamespace(this.#request)) return null;
    const found = await this.#d.objects.present(NAMESPACES, '', namespace, this.#request);
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    return namespaceValue(found);
  }
}

/** What expressions may name; or why it cannot be shown, which is a matter of the failure policy. */
export async function shownValues(
  values: RequestValues,
  as: ResourceDeclaration,
  params: Value,
): Promise<Readonly<Record<string, Value>> | string> {
  try {
    return await values.of(as, params);
  } catch (err) {
    if (!hasReason(err, 'InternalError')) throw err;
    return `failed to convert object version: ${(err as Error).message}`;
  }
}
