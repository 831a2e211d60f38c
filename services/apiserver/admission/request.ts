import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import type { ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import { addWarnings } from '../http/warnings.js';
import { annotate, type AuditAnnotationLevel, type Context, type UserInfo } from '../request/request.js';
import type { AdmissionChain } from './chain.js';
import { requestOptions } from './request-options.js';
import type { AdmissionOperation, AdmissionRequest, GroupVersionKind } from './plugin.js';

/** Which object of which resource a request is about. */
export interface AdmissionTarget {
  readonly declaration: ResourceDeclaration | undefined;
  readonly subresource: string;
  readonly subresourceDeclaration: SubresourceDeclaration | undefined;
  readonly namespace: string;
  readonly name: string;
}

/** Its operation, and the states before and after it. */
export interface Admitted {
  readonly operation: AdmissionOperation;
  readonly object?: ApiObject;
  readonly oldObject?: ApiObject | undefined;
  readonly dryRun: boolean;
  /** Options that came in a body; absent: they are in the query. */
  readonly options?: JsonObject;
  /** Of the writers of the object; absent: nothing is written. */
  readonly leaveTurn?: () => void;
}

/** The one place where the request that admission sees is made. Members that few plugins read are made when they are read. */
class AdmissionOfRequest implements AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly resource: ResourceDeclaration;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly #ctx: Context;
  readonly #subresourceDeclaration: SubresourceDeclaration | undefined;
  readonly #options: JsonObject | undefined;
  readonly #leaveTurn: (() => void) | undefined;

  constructor(ctx: Context, target: AdmissionTarget, resource: ResourceDeclaration, admitted: Admitted) {
    this.#ctx = ctx;
    this.#subresourceDeclaration = target.subresourceDeclaration;
    this.#options = admitted.options;
    this.#leaveTurn = admitted.leaveTurn;
    this.resource = resource;
    this.subresource = target.subresource;
    this.namespace = target.namespace;
    this.name = target.name;
    this.operation = admitted.operation;
    this.object = admitted.object;
    this.oldObject = admitted.oldObject;
    this.dryRun = admitted.dryRun;
  }

  get kind(): GroupVersionKind {
    const { group, version, kind } = this.resource;
    return { group, version, kind, ...this.#subresourceDeclaration };
  }

  get options(): JsonObject | undefined {
    return this.#options ?? requestOptions(this.operation, this.#ctx.state.query, this.dryRun);
  }

  get user(): UserInfo {
    return this.#ctx.state.user;
  }

  get signal(): AbortSignal {
    return this.#ctx.state.signal;
  }

  leaveTurn(): void {
    this.#leaveTurn?.();
  }

  warn(text: string): void {
    addWarnings(this.#ctx, [text]);
  }

  annotate(key: string, value: string, level?: AuditAnnotationLevel): void {
    annotate(this.#ctx.state, { [key]: value }, level);
  }
}

/** @throws {Error} for a resource that is not served: no request gets as far with one */
export function admissionRequest(ctx: Context, target: AdmissionTarget, admitted: Admitted): AdmissionRequest {
  const { declaration } = target;
  if (declaration === undefined) throw new Error('Admission was asked about a resource that is not served');
  return new AdmissionOfRequest(ctx, target, declaration, admitted);
}

/** Both phases, for an object that is not stored. Plugins may change it in place. @throws {StatusError} */
export async function admit(admission: AdmissionChain, request: AdmissionRequest): Promise<void> {
  await admission.mutate(request);
  await admission.validate(request);
}
