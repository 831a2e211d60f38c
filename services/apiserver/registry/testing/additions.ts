import { typeKey } from '../../../machinery/types/catalog.js';
import type { ResourceDeclaration, TypeDeclaration } from '../../../machinery/types/declarations.js';
import type { Addition } from '../live-catalog.js';

const TYPE_META = { name: 'typeMeta', type: 'meta/v1.TypeMeta', inline: true } as const;

/** Of objects with a spec and a status. */
const typesOf = (group: string, version: string, kind: string): [string, TypeDeclaration][] => {
  const [own, spec, status] = [kind, `${kind}Spec`, `${kind}Status`].map((name) => typeKey(group, version, name));
  return [
    [
      own ?? '',
      {
        kind: true,
        fields: [
          TYPE_META,
          { name: 'metadata', type: 'meta/v1.ObjectMeta', alwaysEmit: true },
          { name: 'spec', type: spec ?? '' },
          { name: 'status', type: status ?? '' },
        ],
      },
    ],
    [
      spec ?? '',
      {
        fields: [
          { name: 'size', type: 'int32' },
          { name: 'colors', type: 'string', list: true, listType: 'set' },
        ],
      },
    ],
    [status ?? '', { fields: [{ name: 'phase', type: 'string' }] }],
    [
      typeKey(group, version, `${kind}List`),
      {
        kind: true,
        fields: [
          TYPE_META,
          { name: 'metadata', type: 'meta/v1.ListMeta', alwaysEmit: true },
          { name: 'items', type: own ?? '', list: true, required: true, alwaysEmit: true },
        ],
      },
    ],
  ];
};

interface AdditionOptions {
  /** The first one is stored. @default `v1` alone */
  readonly versions?: readonly [string, ...string[]];
  /** @default true */
  readonly withStatus?: boolean;
  /** @default `Thing` and what tells the resource apart */
  readonly kind?: string;
}

/** A resource as one that comes at run time: namespaced, with `spec.size`, `spec.colors` and `status.phase`. */
export function addition(group: string, resource: string, o: AdditionOptions = {}): Addition {
  const { versions = ['v1'], withStatus = true } = o;
  const kind = o.kind ?? `Thing${resource.replace(/\D/g, '')}`;
  const declared = (version: string): ResourceDeclaration => ({
    group,
    version,
    resource,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: withStatus ? [{ name: 'status', kind, verbs: ['get', 'patch', 'update'] }] : [],
    virtual: false,
    type: typeKey(group, version, kind),
    storage: { group, version: versions[0] },
    servedByDefault: true,
    selectableFields: [],
    nameRule: 'dns1123-subdomain',
    unconditionalUpdate: true,
    createOnUpdate: false,
  });
  const [first, ...rest] = versions;
  return {
    types: new Map(versions.flatMap((version) => typesOf(group, version, kind))),
    resources: [declared(first), ...rest.map(declared)],
  };
}
