import assert from 'node:assert/strict';
import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import { CachedObject } from '../../cache/cached-object.js';
import { EVERYTHING, type ChangeFilter } from '../../cache/watchers.js';
import type { ListParameters, Page } from '../reader.js';
import type { StoredResource } from '../resources.js';
import { BATCH_OBJECTS } from './batches.js';
import { convertedList } from './converted-list.js';
import type { VersionConversion } from './version-conversion.js';

const prefixLength = storagePrefix('Widget', 'g/v1').length;
const LAYOUT = { prefixLength, itemStart: itemStart(prefixLength), selectableFields: [] };

const stored = (i: number): CachedObject => {
  const name = `o${String(i).padStart(4, '0')}`;
  const object = { kind: 'Widget', apiVersion: 'g/v1', metadata: { name } };
  return CachedObject.fromStored(`/w/${name}`, '', name, i + 1, encodeObject(object), LAYOUT);
};

/** Lists 1,000 objects, of which every tenth is chosen once it is converted. */
class Scene {
  readonly objects = Array.from({ length: 1_000 }, (_, i) => stored(i));
  readonly asked: ListParameters[] = [];
  converted = 0;

  readonly list = (_: StoredResource, p: ListParameters): Promise<Page> => {
    this.asked.push(p);
    const from = Number(p.continueToken);
    const all = this.objects.slice(from).filter((object) => p.filter.matches(object));
    const objects = p.limit > 0 ? all.slice(0, p.limit) : all;
    const isLast = objects.length === all.length;
    const continueToken = isLast ? '' : String(this.objects.indexOf(objects.at(-1) ?? assert.fail()) + 1);
    const page = {
      revision: 7,
      continueToken,
      remaining: undefined,
      objects: () => objects,
      items: () => assert.fail(),
    };
    return Promise.resolve(page);
  };

  read(more: Partial<ListParameters>, isCandidate = (): boolean => true): Promise<Page> {
    const conversion = {
      objects: (objects: readonly CachedObject[]) => {
        this.converted += objects.length;
        return Promise.resolve(objects.map((it) => new CachedObject(it.key, it.namespace, it.name, it.revision, it.bytes, CHOSEN))); // prettier-ignore
      },
    } as unknown as VersionConversion;
    const asked = { resourceVersion: undefined, match: '', limit: 0, continueToken: '', namespace: '', filter: TENTH, ...more } as const; // prettier-ignore
    const list = { stored: {} as StoredResource, conversion, asked, isCandidate };
    return convertedList(this, list, { signal: new AbortController().signal });
  }
}

const CHOSEN = { ...LAYOUT, apiVersion: 'g/v2' };
/** What it looks at is there only in the converted form. */
const TENTH: ChangeFilter = { id: 'tenth', matches: (o) => o.layout.apiVersion === 'g/v2' && o.name.endsWith('0') };

const namesOf = (page: Page): string[] => page.objects().map(({ name }) => name);
const tenths = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `o${String((from + i) * 10).padStart(4, '0')}`);

describe('convertedList()', () => {
  let scene: Scene;
  beforeEach(() => (scene = new Scene()));

  it('converts a list as it is, and shows it as items', async () => {
    const page = await scene.read({ filter: EVERYTHING });
    assert.equal(page.objects().length, 1_000);
    const items = Buffer.concat([...page.items()]).toString();
    assert.equal((JSON.parse(`[${items.slice(1)}]`) as unknown[]).length, 1_000);
    assert.equal(page.revision, 7);
  });

  it('selects from all of it where there is no limit', async () => {
    assert.deepEqual(namesOf(await scene.read({})), tenths(0, 100));
    assert.equal(scene.asked.length, 1);
  });

  it('reads on until a page is full, and no further', async () => {
    const first = await scene.read({ limit: 30 });
    assert.deepEqual(namesOf(first), tenths(0, 30));
    assert.equal(first.continueToken, '291');
    assert.ok(scene.converted <= 3 * BATCH_OBJECTS, String(scene.converted));
    const second = await scene.read({ limit: 30, continueToken: first.continueToken });
    assert.deepEqual(namesOf(second), tenths(30, 60));
    const last = await scene.read({ limit: 60, continueToken: second.continueToken });
    assert.deepEqual([namesOf(last), last.continueToken], [tenths(60, 100), '']);
  });

  it('stays in one state when it reads a part again', async () => {
    await scene.read({ limit: 5 });
    const [first, again = assert.fail()] = scene.asked;
    assert.deepEqual([first?.match, first?.resourceVersion, first?.limit], ['', undefined, BATCH_OBJECTS]);
    assert.deepEqual([again.match, again.resourceVersion, again.limit], ['Exact', 7, 41]);
  });

  it('converts nothing that cannot be meant', async () => {
    const named = (object?: { readonly name: string }): boolean => object?.name === 'o0010';
    assert.deepEqual(namesOf(await scene.read({}, named)), ['o0010']);
    assert.equal(scene.converted, 1);
  });
});
