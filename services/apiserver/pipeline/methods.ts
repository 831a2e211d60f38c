import { methodNotAllowed, StatusError } from '../../machinery/meta/status.js';
import type { ResourceDeclaration, ResourceVerb, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import type { Context, ResourceRequest } from '../request/request.js';

/* Which methods a path takes, and how the others are refused. */

/** What a path names, beside the resource. */
type Shape = 'collection' | 'everywhere' | 'item' | 'part' | 'watch';

/** What can be done there, where the resource has the verb. */
const VERBS: Readonly<Record<Shape, readonly ResourceVerb[]>> = {
  collection: ['list', 'create', 'deletecollection'],
  everywhere: ['list'],
  item: ['get', 'update', 'patch', 'delete'],
  part: ['get', 'create', 'update', 'patch', 'delete'],
  watch: ['watch'],
};

const METHODS: Readonly<Record<ResourceVerb, readonly string[]>> = {
  get: ['GET', 'HEAD'],
  list: ['GET', 'HEAD'],
  watch: ['GET', 'HEAD'],
  create: ['POST'],
  update: ['PUT'],
  patch: ['PATCH'],
  delete: ['DELETE'],
  deletecollection: ['DELETE'],
};

/** What this server can do at all; everything else means nothing to it. */
const IMPLEMENTED: ReadonlySet<string> = new Set(['OPTIONS', ...Object.values(METHODS).flat()]);

function shapeOf({ watchPath, subresource, name, namespace }: ResourceRequest, namespaced: boolean): Shape {
  if (watchPath) return 'watch';
  if (subresource !== '') return 'part';
  if (name !== '') return 'item';
  return namespaced && namespace === '' ? 'everywhere' : 'collection';
}

type Declared = ResourceDeclaration | SubresourceDeclaration;
/** Declarations are few, and live as long as the server. */
const known = new WeakMap<Declared, Map<Shape, ReadonlySet<string>>>();
const NONE: ReadonlySet<string> = new Set();

/** The methods that the path of a request takes. None at all: there is no such path. */
export function methodsOf(info: ResourceRequest, declaration: ResourceDeclaration): ReadonlySet<string> {
  const declared = info.subresource === '' ? declaration : info.subresourceDeclaration;
  if (declared === undefined) return NONE;
  const shape = shapeOf(info, declaration.namespaced);
  let ofShapes = known.get(declared);
  if (ofShapes === undefined) known.set(declared, (ofShapes = new Map<Shape, ReadonlySet<string>>()));
  let methods = ofShapes.get(shape);
  if (methods === undefined) ofShapes.set(shape, (methods = methodsAt(shape, declared.verbs, info.subresource)));
  return methods;
}

function methodsAt(shape: Shape, verbs: readonly ResourceVerb[], subresource: string): ReadonlySet<string> {
  const methods = VERBS[shape].filter((verb) => verbs.includes(verb)).flatMap((verb) => METHODS[verb]);
  return new Set(subresource === 'proxy' ? [...methods, 'OPTIONS'] : methods); // what is behind may be asked about itself
}

/**
 * Refuses a method, and says what the path takes instead (`Allow`): 405, or 501 where this server knows no such method
 * whatever the path (RFC 9110, 9.1).
 *
 * @param declaration undefined: the path is about no resource.
 */
export function methodRefused(
  ctx: Pick<Context, 'method' | 'set'>,
  allowed: Iterable<string>,
  declaration?: ResourceDeclaration,
): StatusError {
  ctx.set('Allow', [...allowed].join(', '));
  if (!IMPLEMENTED.has(ctx.method)) return new StatusError('NotImplemented', UNKNOWN_METHOD, { details: {} });
  if (declaration !== undefined) return methodNotAllowed(declaration, ctx.method);
  return new StatusError('MethodNotAllowed', NOT_ALLOWED, { details: {} });
}

const UNKNOWN_METHOD = 'the server does not implement this method';
const NOT_ALLOWED = 'the server does not allow this method on the requested resource';
