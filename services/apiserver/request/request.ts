import type Koa from 'koa';
import type { ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';

/** The verb of a request for a resource. `options`: only what leads to another server takes it. */
export type RequestVerb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'options';

/** A method that this server does not know, in lower case: any text that HTTP/2 lets through. It is always refused. */
export type UnknownVerb = string & { readonly __brand: 'UnknownVerb' };

/** An authenticated user. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A request about a resource, as its path and method say. */
export interface ResourceRequest {
  readonly kind: 'resource';
  readonly verb: RequestVerb | UnknownVerb;
  readonly group: string;
  readonly version: string;
  /** '' when the path names none. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** '' for a collection. */
  readonly name: string;
  /** The path is of the older form that begins with `watch`. */
  readonly watchPath: boolean;
  /** The declaration of the resource; undefined is a 404. */
  readonly declaration: ResourceDeclaration | undefined;
  readonly subresourceDeclaration: SubresourceDeclaration | undefined;
}

/** Health, discovery, metrics and the like. */
export interface PathRequest {
  readonly kind: 'path';
  /** The method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type RequestInfo = ResourceRequest | PathRequest;

/** Sub-resources that lead to another server. */
const PASSED_ON: ReadonlySet<string> = new Set(['proxy', 'exec', 'attach', 'portforward', 'log']);

/** Whether another server gives the answer, which may go on without end. */
export const isPassedOn = (info: RequestInfo): boolean => info.kind === 'resource' && PASSED_ON.has(info.subresource);

/** The state of a request: each stage sets members for those after it. */
export interface RequestState {
  info: RequestInfo;
  /**
   * Fires when the answer is not waited for any more: the client has gone away, also before the signal was asked for,
   * the answer is out, or the request has taken too long. Every wait inside a request ends with it. Made when it is
   * first read.
   */
  readonly signal: AbortSignal;
  /** The query's members; several values of one name: the first counts. */
  query: URLSearchParams;
  /** The user, authenticated or impersonated. */
  user: UserInfo;
  /** The authenticated user of a request that impersonates another. */
  impersonator?: UserInfo;
  /** Told when an answer that goes on has begun, or a request is handed to another server. */
  onOpen?: () => void;
  /** Its body, or the object that it changes, is large: each part of the work on it has a turn of the event loop. */
  heavy?: boolean;
  /** Annotations for the audit; see `annotate`. */
  auditAnnotations?: Readonly<Record<string, string>>;
  /** Those that only events of level `Request` and above show. */
  requestAuditAnnotations?: Readonly<Record<string, string>>;
  /** Takes what was sent and answered; absent when the audit does not tell of it. */
  audit?: RequestAudit;
}

/** The audit of one request. */
export interface RequestAudit {
  /**
   * The body of the request.
   *
   * @param type Its media type, without parameters. @param value What it says; looked at at once and not kept.
   */
  sent(body: Buffer, type: string, value: unknown): void;
  /** The name that the server made for a new object. */
  named(name: string): void;
  /** A long answer is about to begin. What it returns is waited for where that can be done. */
  started(code: number): Promise<unknown> | undefined;
  /**
   * The whole answer before any of it goes out. What it returns is waited for: the answer must not be known before it
   * is told. Never rejects.
   *
   * @param pieces Before they are compressed; JSON where `type` is JSON or YAML.
   */
  answered(code: number, pieces: readonly Buffer[], type: string): Promise<unknown> | undefined;
}

/** The least level of audit events that show an annotation. */
export type AuditAnnotationLevel = 'Metadata' | 'Request';

/** Adds annotations to the audit event of a request. */
export function annotate(
  state: RequestState,
  annotations: Readonly<Record<string, string>>,
  level: AuditAnnotationLevel = 'Metadata',
): void {
  const member = level === 'Metadata' ? 'auditAnnotations' : 'requestAuditAnnotations';
  state[member] = { ...state[member], ...annotations };
}

export type Stage = Koa.Middleware<RequestState>;
export type Context = Koa.ParameterizedContext<RequestState>;
