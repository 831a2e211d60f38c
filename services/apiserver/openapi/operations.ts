import type { ResourceVerb, ResourceDeclaration, SubresourceDeclaration } from '../../machinery/types/declarations.js';
import { groupVersionPath } from '../../machinery/meta/gvk.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Parameter } from './dialect.js';
import { DELETE, DELETE_COLLECTION, LIST, NAME, NAMESPACE, PATCH, WRITE } from './parameters.js';

export type Action =
  'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection' | 'watch' | 'watchlist' | 'connect';
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

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
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** What tells the operation's name from others': `NamespacedPodStatus` */
  readonly subject: string;
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

/** Every operation on a resource and its sub-resources. */
export function endpointsOf(d: ResourceDeclaration): readonly Endpoint[] {
  return [
    ...d.verbs.flatMap((verb) => (verb === 'watch' ? watches(d) : ofVerb(d, verb))),
    ...d.subresources.flatMap((sub) => ofSubresource(d, sub)),
  ];
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

function ofVerb(d: ResourceDeclaration, verb: Exclude<ResourceVerb, 'watch'>): readonly Endpoint[] {
  const form = VERBS[verb];
  const own: Endpoint = {
    ...place(d, form.at),
    method: form.method,
    action: form.action,
    query: form.query,
    ...bodyOf(form, d.type),
    answer: { own: d.type, list: listKey(d), status: STATUS_KEY }[form.answer],
    kind: d,
    subject: subjectOf(d),
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
  };
  const all: Endpoint = {
    ...one,
    ...place(d, 'collection', '/watch'),
    action: 'watchlist',
    subject: `${subjectOf(d)}List`,
  };
  return d.namespaced ? [one, all, everywhere(d, all)] : [one, all];
}

/** Sub-resources that pass a connection on are declared with the options that they take. */
const isConnection = (sub: SubresourceDeclaration): boolean => sub.kind.endsWith('Options');
const CONNECT_METHODS: Readonly<Record<string, Method>> = {
  create: 'post',
  get: 'get',
  update: 'put',
  patch: 'patch',
  delete: 'delete',
};

function ofSubresource(d: ResourceDeclaration, sub: SubresourceDeclaration): readonly Endpoint[] {
  const { path, pathParameters } = place(d, 'item');
  const kind = { group: sub.group ?? d.group, version: sub.version ?? d.version, kind: sub.kind };
  const type = typeKey(kind.group, kind.version, kind.kind);
  const common = {
    path: `${path}/${sub.name}`,
    pathParameters,
    kind,
    subject: `${subjectOf(d)}${capitalized(sub.name)}`,
  };
  return sub.verbs.flatMap((verb): readonly Endpoint[] => {
    if (isConnection(sub)) {
      return [{ ...common, method: CONNECT_METHODS[verb] ?? 'get', action: 'connect', query: [], answer: undefined }];
    }
    if (verb === 'watch') return [];
    const form = VERBS[verb];
    return [
      {
        ...common,
        method: form.method,
        action: form.action,
        query: form.query,
        ...bodyOf(form, type),
        answer: sub.name === 'log' ? undefined : form.answer === 'status' ? STATUS_KEY : type,
      },
    ];
  });
}

export const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
