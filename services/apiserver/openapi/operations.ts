import type { ResourceVerb, ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import { groupVersionPath } from '../../machinery/meta/gvk.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Parameter } from './dialect.js';
import { DELETE, DELETE_COLLECTION, LIST, NAME, NAMESPACE, PATCH, REST, WRITE } from './parameters.js';

export type Action =
  'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'watch' | 'watchlist' | 'connect';
export type Method = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options';

/** One method of one path, in words; models are keys of types. */
export interface Endpoint {
  readonly path: string;
  readonly pathParameters: readonly Parameter[];
  readonly method: Method;
  readonly action: Action;
  readonly query: readonly Parameter[];
  /** Key of the type that is sent. */
  readonly body?: string;
  /** Key of the type that is answered; undefined for text. */
  readonly answer: string | undefined;
  /** Key of the type whose members the query may have besides. */
  readonly options?: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** The part of the operation's name behind its verb: `NamespacedPodStatus` */
  readonly subject: string;
  /** The description of the operation, in a sentence. */
  readonly description: string;
}

type Place = 'collection' | 'item';

interface VerbForm {
  readonly at: Place;
  readonly method: Method;
  readonly action: Action;
  readonly query: readonly Parameter[];
  readonly body?: 'own' | 'patch' | 'deleteOptions';
  readonly answer: 'own' | 'list' | 'status';
}

const VERBS: Readonly<Record<Exclude<ResourceVerb, 'watch'>, VerbForm>> = {
  list: { at: 'collection', method: 'get', action: 'list', query: LIST, answer: 'list' },
  create: { at: 'collection', method: 'post', action: 'post', query: WRITE, body: 'own', answer: 'own' },
  deletecollection: {
    at: 'collection',
    method: 'delete',
    action: 'deletecollection',
    query: DELETE_COLLECTION,
    body: 'deleteOptions',
    answer: 'status',
  },
  get: { at: 'item', method: 'get', action: 'get', query: [], answer: 'own' },
  update: { at: 'item', method: 'put', action: 'put', query: WRITE, body: 'own', answer: 'own' },
  patch: { at: 'item', method: 'patch', action: 'patch', query: PATCH, body: 'patch', answer: 'own' },
  delete: { at: 'item', method: 'delete', action: 'delete', query: DELETE, body: 'deleteOptions', answer: 'status' },
};

const PATCH_KEY = 'meta/v1.Patch';
const DELETE_OPTIONS_KEY = 'meta/v1.DeleteOptions';
const STATUS_KEY = 'meta/v1.Status';
const EVENT_KEY = 'meta/v1.WatchEvent';
const LOG_OPTIONS_KEY = 'core/v1.PodLogOptions';

export interface EndpointOptions {
  /** A finished deletion answers what was deleted, and no Status. */
  readonly returnsDeleted: boolean;
}

/** Every operation on a resource and its sub-resources. */
export function endpointsOf(d: ResourceDeclaration, o: EndpointOptions): readonly Endpoint[] {
  return [
    ...d.verbs.flatMap((verb) => (verb === 'watch' ? watches(d) : ofVerb(d, verb, o))),
    ...d.subresources.flatMap((sub) => (isConnection(sub) ? connections(d, sub) : ofSubresource(d, sub))),
  ];
}

/** `%` is what it is done to. */
const SENTENCES: Readonly<Record<Action, string>> = {
  get: 'Read %.',
  list: 'List % objects, or watch them.',
  post: 'Create %.',
  put: 'Replace %.',
  patch: 'Change some fields of %.',
  delete: 'Delete %.',
  deletecollection: 'Delete all % objects that are selected.',
  watch: 'Watch %. Older form: a list with watch=true and a field selector for the name does the same.',
  watchlist: 'Watch % objects. Older form: a list with watch=true does the same.',
  connect: 'Connect to %.',
};
const OF_MANY: readonly Action[] = ['list', 'deletecollection', 'watchlist'];

function sentence(action: Action, { kind }: ResourceDeclaration, part?: string): string {
  const what = OF_MANY.includes(action) ? kind : part === undefined ? `one ${kind}` : `the ${part} of one ${kind}`;
  return SENTENCES[action].replace('%', what);
}

const scoped = (d: ResourceDeclaration): string => (d.namespaced ? '/namespaces/{namespace}' : '');
const subjectOf = (d: ResourceDeclaration): string => `${d.namespaced ? 'Namespaced' : ''}${d.kind}`;

function place(d: ResourceDeclaration, at: Place, under = ''): Pick<Endpoint, 'path' | 'pathParameters'> {
  const collection = `${groupVersionPath(d)}${under}${scoped(d)}/${d.resource}`;
  return {
    path: at === 'collection' ? collection : `${collection}/{name}`,
    pathParameters: [...(at === 'item' ? [NAME] : []), ...(d.namespaced ? [NAMESPACE] : [])],
  };
}

const listKey = (d: ResourceDeclaration): string => typeKey(d.group, d.version, d.listKind);

function ofVerb(
  d: ResourceDeclaration,
  verb: Exclude<ResourceVerb, 'watch'>,
  { returnsDeleted }: EndpointOptions,
): readonly Endpoint[] {
  const form = VERBS[verb];
  const answer = verb === 'delete' && returnsDeleted ? 'own' : form.answer;
  const own: Endpoint = {
    ...place(d, form.at),
    method: form.method,
    action: form.action,
    query: form.query,
    ...bodyOf(form, d.type),
    answer: { own: d.type, list: listKey(d), status: STATUS_KEY }[answer],
    kind: d,
    subject: subjectOf(d),
    description: sentence(form.action, d),
  };
  return verb === 'list' && d.namespaced ? [own, everywhere(d, own)] : [own];
}

function bodyOf({ body }: VerbForm, type: string): { body?: string } {
  if (body === undefined) return {};
  return { body: { own: type, patch: PATCH_KEY, deleteOptions: DELETE_OPTIONS_KEY }[body] };
}

/** The same, over all namespaces. */
const everywhere = (d: ResourceDeclaration, e: Endpoint): Endpoint => ({
  ...e,
  path: e.path.replace(scoped(d), ''),
  pathParameters: [],
  subject: `${d.kind}${e.action === 'watchlist' ? 'List' : ''}ForAllNamespaces`,
});

/** The older form of watching, which has paths of its own. */
function watches(d: ResourceDeclaration): readonly Endpoint[] {
  const one: Endpoint = {
    ...place(d, 'item', '/watch'),
    method: 'get',
    action: 'watch',
    query: LIST,
    answer: EVENT_KEY,
    kind: d,
    subject: subjectOf(d),
    description: sentence('watch', d),
  };
  const all: Endpoint = {
    ...one,
    ...place(d, 'collection', '/watch'),
    action: 'watchlist',
    subject: `${subjectOf(d)}List`,
    description: sentence('watchlist', d),
  };
  return d.namespaced ? [one, all, everywhere(d, all)] : [one, all];
}

const kindOf = (d: ResourceDeclaration, sub: SubresourceDeclaration): Endpoint['kind'] => ({
  group: sub.group ?? d.group,
  version: sub.version ?? d.version,
  kind: sub.kind,
});

function ofSubresource(d: ResourceDeclaration, sub: SubresourceDeclaration): readonly Endpoint[] {
  const { path, pathParameters } = place(d, 'item');
  const kind = kindOf(d, sub);
  const type = typeKey(kind.group, kind.version, kind.kind);
  const isLog = sub.name === 'log';
  return sub.verbs.flatMap((verb): readonly Endpoint[] => {
    if (verb === 'watch') return [];
    const form = VERBS[verb];
    return [
      {
        path: `${path}/${sub.name}`,
        pathParameters,
        kind,
        subject: `${subjectOf(d)}${capitalized(sub.name)}`,
        description: sentence(form.action, d, sub.name),
        method: form.method,
        action: form.action,
        query: form.query,
        ...bodyOf(form, type),
        answer: isLog ? undefined : form.answer === 'status' ? STATUS_KEY : type,
        ...(isLog ? { options: LOG_OPTIONS_KEY } : {}),
      },
    ];
  });
}

/** Sub-resources that pass a connection on are declared with the options that they take. */
const isConnection = (sub: SubresourceDeclaration): boolean => sub.kind.endsWith('Options');

const CONNECT_METHODS: Readonly<Partial<Record<ResourceVerb, Method>>> = {
  create: 'post',
  get: 'get',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
};
/** The further method of proxies; no verb stands for it. */
const PROXY_METHODS: readonly Method[] = ['head', 'options'];

function connections(d: ResourceDeclaration, sub: SubresourceDeclaration): readonly Endpoint[] {
  const { path, pathParameters } = place(d, 'item');
  const kind = kindOf(d, sub);
  const isProxy = sub.name === 'proxy';
  const methods = [...sub.verbs.flatMap((verb) => CONNECT_METHODS[verb] ?? []), ...(isProxy ? PROXY_METHODS : [])];
  return methods.flatMap((method): readonly Endpoint[] => {
    const own: Endpoint = {
      path: `${path}/${sub.name}`,
      pathParameters,
      method,
      action: 'connect',
      query: [],
      options: typeKey(kind.group, kind.version, kind.kind),
      answer: undefined,
      kind,
      subject: `${subjectOf(d)}${capitalized(sub.name)}`,
      description: sentence('connect', d, sub.name),
    };
    return isProxy ? [own, below(own)] : [own];
  });
}

/** The same, for everything below the path. */
const below = (e: Endpoint): Endpoint => ({
  ...e,
  path: `${e.path}/{path}`,
  pathParameters: [...e.pathParameters, REST],
  subject: `${e.subject}WithPath`,
});

export const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
