import type { ApiObject } from '../../../machinery/meta/object.js';
import { CachedObject } from '../../cache/cached-object.js';
import type { AdmissionObjects, StoredName } from '../objects.js';

type Readable = Pick<AdmissionObjects, 'cached' | 'present' | 'newest' | 'list' | 'derivedFromAll' | 'whenFresh'>;

const selectableFields = [{ key: 'status.phase', paths: [['status', 'phase']], absent: '' }];
const LAYOUT = { prefixLength: 0, itemStart: 0, selectableFields };
const keyOf = ({ group, resource }: StoredName, namespace: string, name: string): string =>
  [group, resource, namespace, name].join('/');

/** Objects that plugins under test may read. */
export class ObjectsThere implements Readable {
  readonly #objects = new Map<string, CachedObject>();
  /** Known to the store alone: another server has just made them. */
  readonly #stored = new Map<string, CachedObject>();
  #revision = 0;

  /** @param where `stored`: the cache does not have it yet */
  put(of: StoredName, object: Partial<ApiObject>, where: 'cached' | 'stored' = 'cached'): this {
    const { namespace = '', name = '' } = object.metadata ?? {};
    const key = keyOf(of, namespace, name);
    const cached = new CachedObject(
      key,
      namespace,
      name,
      ++this.#revision,
      Buffer.from(JSON.stringify(object)),
      LAYOUT,
    );
    (where === 'cached' ? this.#objects : this.#stored).set(key, cached);
    return this;
  }

  cached(of: StoredName, namespace: string, name: string): CachedObject | undefined {
    return this.#objects.get(keyOf(of, namespace, name));
  }

  present(
    of: StoredName,
    namespace: string,
    name: string,
  ): Promise<CachedObject | undefined> | CachedObject | undefined {
    return this.cached(of, namespace, name) ?? this.newest(of, namespace, name);
  }

  newest(of: StoredName, namespace: string, name: string): Promise<CachedObject | undefined> {
    const key = keyOf(of, namespace, name);
    return Promise.resolve(this.#stored.get(key) ?? this.#objects.get(key));
  }

  list({ group, resource }: StoredName, namespace: string): CachedObject[] {
    const prefix = `${group}/${resource}/${namespace === '' ? '' : `${namespace}/`}`;
    return [...this.#objects.values()]
      .filter(({ key }) => key.startsWith(prefix))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  whenFresh(): Promise<void> {
    for (const [key, object] of this.#stored) this.#objects.set(key, object);
    return Promise.resolve();
  }

  derivedFromAll<T>(of: StoredName, make: (objects: readonly CachedObject[]) => T): () => T {
    return () => make(this.list(of, ''));
  }
}
