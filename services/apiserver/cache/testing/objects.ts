import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import { CachedObject, type ObjectLayout } from '../cached-object.js';
import type { StoredForm } from '../resource-cache.js';

const prefix = storagePrefix('ConfigMap', 'v1');
const prefixLength = prefix.length;
export const FORM: StoredForm = { prefix, adopt: () => undefined };
export const LAYOUT: ObjectLayout = {
  prefixLength,
  itemStart: itemStart(prefixLength),
  selectableFields: [{ key: 'data.color', paths: [['data', 'color']], absent: '' }],
};
export const PREFIX = '/registry/core/configmaps/';

/** The stored bytes of a ConfigMap. */
export const storedBytes = (
  namespace: string,
  name: string,
  o: { labels?: Record<string, string>; color?: string } = {},
): Buffer =>
  encodeObject({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace, ...(o.labels === undefined ? {} : { labels: o.labels }) },
    ...(o.color === undefined ? {} : { data: { color: o.color } }),
  });

export const cached = (
  namespace: string,
  name: string,
  revision: number,
  o: { labels?: Record<string, string>; color?: string } = {},
): CachedObject =>
  CachedObject.fromStored(
    `${PREFIX}${namespace}/${name}`,
    namespace,
    name,
    revision,
    storedBytes(namespace, name, o),
    LAYOUT,
  );
