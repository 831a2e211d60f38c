/** Reasons of a failure as clients know them, with the HTTP status each travels under. */
export const REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504,
} as const;
export type Reason = keyof typeof REASONS;

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The resource (plural) for errors about a path, the kind for validation errors: as clients know it. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusBody {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly [key: string]: unknown };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** The only error that crosses the wire. Its message goes to the client: no secrets, no internals. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly reason: Reason;
  readonly details: StatusDetails | undefined;
  readonly code: number;
  /** Members of the answer's `metadata`, e.g. a fresh continue token. */
  readonly metadata: { readonly [key: string]: unknown };

  constructor(
    reason: Reason,
    message: string,
    o: {
      readonly details?: StatusDetails;
      readonly cause?: unknown;
      readonly code?: number;
      readonly metadata?: { readonly [key: string]: unknown };
    } = {},
  ) {
    super(message, { cause: o.cause });
    this.reason = reason;
    this.details = o.details;
    this.code = o.code ?? REASONS[reason];
    this.metadata = o.metadata ?? {};
  }

  body(): StatusBody {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** Looks through `cause`, so a wrapped Conflict is still a Conflict. */
export function hasReason(err: unknown, reason: Reason): boolean {
  for (let e = err; e instanceof Error; e = e.cause) {
    if (e instanceof StatusError) return e.reason === reason;
  }
  return false;
}

/** The name of a resource in messages: `configmaps`, `deployments.apps`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}
export const qualified = (r: ResourceName): string => (r.group === '' ? r.resource : `${r.resource}.${r.group}`);

const about = (r: ResourceName, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(r.group === '' ? {} : { group: r.group }),
  kind: r.resource,
});

export const badRequest = (message: string, cause?: unknown): StatusError =>
  new StatusError('BadRequest', message, { cause });

export const notFound = (r: ResourceName, name: string): StatusError =>
  new StatusError('NotFound', `${qualified(r)} "${name}" not found`, { details: about(r, name) });

export const alreadyExists = (r: ResourceName, name: string): StatusError =>
  new StatusError('AlreadyExists', `${qualified(r)} "${name}" already exists`, { details: about(r, name) });

export const conflict = (r: ResourceName, name: string, why: string): StatusError =>
  new StatusError('Conflict', `Operation cannot be fulfilled on ${qualified(r)} "${name}": ${why}`, {
    details: about(r, name),
  });

export const forbidden = (r: ResourceName, name: string, why: string): StatusError =>
  new StatusError('Forbidden', `${qualified(r)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`, {
    details: about(r, name),
  });

export const methodNotAllowed = (r: ResourceName, verb: string): StatusError =>
  new StatusError('MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(r)}"`, {
    details: about(r, ''),
  });

/** History that was asked for is gone: the client lists again. */
export const expired = (message: string, metadata: { readonly [key: string]: unknown } = {}): StatusError =>
  new StatusError('Expired', message, { metadata });

/** A problem with one field. `reason` is one of the cause types that clients match on. */
export interface FieldError {
  readonly reason:
    | 'FieldValueNotFound'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'InternalError'
    | 'FieldValueTypeInvalid';
  /** e.g. `spec.template.spec.containers[0].name` */
  readonly field: string;
  /** Without the field's path, e.g. `Invalid value: "Bad_Name": must be lower case`. */
  readonly message: string;
}

const shown = (value: unknown): string => JSON.stringify(value);

/** Makers of field errors, one per reason, with the wording that clients know. */
export const field = {
  invalid: (path: string, value: unknown, detail: string): FieldError => ({
    reason: 'FieldValueInvalid',
    field: path,
    message: `Invalid value: ${shown(value)}: ${detail}`,
  }),
  required: (path: string, detail = ''): FieldError => ({
    reason: 'FieldValueRequired',
    field: path,
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  }),
  forbidden: (path: string, detail: string): FieldError => ({
    reason: 'FieldValueForbidden',
    field: path,
    message: `Forbidden: ${detail}`,
  }),
  notSupported: (path: string, value: unknown, supported: readonly string[]): FieldError => ({
    reason: 'FieldValueNotSupported',
    field: path,
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
  }),
  duplicate: (path: string, value: unknown): FieldError => ({
    reason: 'FieldValueDuplicate',
    field: path,
    message: `Duplicate value: ${shown(value)}`,
  }),
  typeInvalid: (path: string, value: unknown, detail: string): FieldError => ({
    reason: 'FieldValueTypeInvalid',
    field: path,
    message: `Invalid value: ${shown(value)}: ${detail}`,
  }),
  tooMany: (path: string, count: number, max: number): FieldError => ({
    reason: 'FieldValueTooMany',
    field: path,
    message: `Too many: ${count}: must have at most ${max} items`,
  }),
  notFound: (path: string, value: unknown): FieldError => ({
    reason: 'FieldValueNotFound',
    field: path,
    message: `Not found: ${shown(value)}`,
  }),
  tooLong: (path: string, max: number): FieldError => ({
    reason: 'FieldValueTooLong',
    field: path,
    message: `Too long: must have at most ${max} bytes`,
  }),
} as const;

/** 422 for an object: every field error as a cause, all of them in the message. */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const lines = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))]; // each once, where causes may repeat
  const list = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const label = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new StatusError('Invalid', `${label} "${name}" is invalid: ${list}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      causes: errors.map((e) => ({ reason: e.reason, message: e.message, field: e.field })),
    },
  });
}
