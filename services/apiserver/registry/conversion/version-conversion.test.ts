import assert from 'node:assert/strict';
import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { CachedObject, type ObjectLayout } from '../../cache/cached-object.js';
import { GenerationBudget } from '../../cache/generations.js';
import { BATCH_OBJECTS } from './batches.js';
import type { Convertible, ObjectConverter } from './converter.js';
import { withOtherVersions } from './other-versions.js';
import { VersionConversion } from './version-conversion.js';

const KIND = 'Widget';
const never = new AbortController().signal;

function layoutOf(apiVersion: string): ObjectLayout {
  const prefixLength = storagePrefix(KIND, apiVersion).length;
  return { prefixLength, itemStart: itemStart(prefixLength), selectableFields: [], apiVersion };
}
const [V1, V2] = [layoutOf('g/v1'), layoutOf('g/v2')];

function stored(name: string, layout = V1, size = 0): CachedObject {
  const object = {
    kind: KIND,
    apiVersion: layout.apiVersion ?? '',
    metadata: { name },
    spec: { pad: 'x'.repeat(size) },
  };
  return CachedObject.fromStored(`/w/${name}`, '', name, 5, encodeObject(object), layout);
}

const many = (count: number, size = 0): CachedObject[] =>
  Array.from({ length: count }, (_, i) => stored(`o${i}`, V1, size));

/** Counts what it is asked, and answers when it is let. */
class Scene implements ObjectConverter {
  readonly questions: (readonly string[])[] = [];
  /** Names that it cannot convert. */
  readonly broken = new Set<string>();
  wait: Promise<void> = Promise.resolve();
  underWay = 0;
  most = 0;

  readonly conversion: VersionConversion;

  constructor(maxBytes = 1 << 20) {
    this.conversion = new VersionConversion({
      kind: KIND,
      apiVersion: 'g/v2',
      layout: V2,
      decode: (object) => object,
      converter: this,
      budget: new GenerationBudget({ maxBytes, turnMs: 1e9 }, { now: () => 0, later: () => undefined }),
    });
  }

  async convert(objects: readonly Convertible[], to: string): Promise<readonly ApiObject[]> {
    this.most = Math.max(this.most, ++this.underWay);
    const states = objects.map(({ bytes }) => JSON.parse(bytes.toString()) as ApiObject);
    this.questions.push(states.map(({ metadata }) => metadata.name ?? ''));
    await this.wait;
    this.underWay--;
    const bad = states.find(({ metadata }) => this.broken.has(metadata.name ?? ''));
    if (bad !== undefined) throw new StatusError('InternalError', `cannot convert ${bad.metadata.name}`);
    return states.map((state) => ({ ...state, apiVersion: to }));
  }

  close(): void {
    /* nothing to let go of */
  }
}

const stateOf = (object: CachedObject): ApiObject => object.parse() as ApiObject;

describe('VersionConversion', () => {
  it('makes objects of the version, which are where the others were', async () => {
    const { conversion } = new Scene();
    const [own, other] = [stored('own', V2), stored('other')];
    const [a = assert.fail(), b = assert.fail()] = await conversion.objects([own, other], never);
    assert.equal(a, own);
    assert.deepEqual([b.key, b.name, b.revision, b.layout], [other.key, 'other', 5, V2]);
    assert.deepEqual(stateOf(b), { ...stateOf(other), apiVersion: 'g/v2' });
  });

  it('asks for many at once, and once', async () => {
    const scene = new Scene();
    const objects = many(2 * BATCH_OBJECTS + 1);
    const first = await scene.conversion.objects(objects, never);
    assert.deepEqual(scene.questions.map(({ length }) => length), [BATCH_OBJECTS, BATCH_OBJECTS, 1]); // prettier-ignore
    assert.deepEqual(first.map(({ name }) => name), objects.map(({ name }) => name)); // prettier-ignore
    assert.deepEqual(await scene.conversion.objects(objects, never), first);
    assert.ok(scene.conversion.has(objects[7] ?? assert.fail()));
    assert.equal(scene.questions.length, 3);
  });

  it('asks for few large ones at once, and has a bounded number of questions under way', async () => {
    const scene = new Scene(1e9);
    await scene.conversion.objects(many(20, 1_000_000), never);
    assert.equal(scene.questions.length, 20);
    assert.ok(scene.most <= 4, String(scene.most));
  });

  it('forgets what is more than it may keep', async () => {
    const scene = new Scene(10_000);
    const objects = many(100, 1_000);
    await scene.conversion.objects(objects, never);
    const kept = objects.filter((object) => scene.conversion.has(object));
    assert.ok(kept.length > 0 && kept.length < 20, String(kept.length));
  });

  it('asks once for what several want at the same time', async () => {
    const scene = new Scene();
    let release = (): void => undefined;
    scene.wait = new Promise((resolve) => (release = resolve));
    const object = stored('shared');
    const wanted = Promise.all([1, 2, 3].map(() => scene.conversion.object(object, never)));
    release();
    const made = await wanted;
    assert.equal(new Set(made).size, 1);
    assert.deepEqual(scene.questions, [['shared']]);
  });

  it('does not fail who shares a question for what others want of it', async () => {
    const scene = new Scene();
    scene.broken.add('bad');
    let release = (): void => undefined;
    scene.wait = new Promise((resolve) => (release = resolve));
    const [good, bad] = [stored('good'), stored('bad')];
    const both = scene.conversion.objects([good, bad], never);
    const one = scene.conversion.object(good, never);
    release();
    await assert.rejects(both, /cannot convert bad/);
    assert.equal((await one).name, 'good');
    assert.deepEqual(scene.questions, [['good', 'bad'], ['good']]);
  });

  it('lets who leaves go, and keeps what comes for the next one', async () => {
    const scene = new Scene();
    let release = (): void => undefined;
    scene.wait = new Promise((resolve) => (release = resolve));
    const leaver = new AbortController();
    const object = stored('a');
    const left = scene.conversion.object(object, leaver.signal);
    leaver.abort(new Error('gone'));
    await assert.rejects(left, /gone/);
    release();
    await scene.conversion.object(object, never);
    assert.equal(scene.questions.length, 1);
  });

  it('does work again when states in other versions have come', async () => {
    const scene = new Scene();
    const [live, next] = [stateOf(stored('live')), stateOf(stored('next'))];
    let times = 0;
    const work = withOtherVersions(scene, { signal: never }, (others) => {
      times++;
      const states = others?.states(scene.conversion, 'g/v2', { live, next }) ?? assert.fail();
      return [states.live?.apiVersion, states.next.apiVersion];
    });
    assert.deepEqual(await work, ['g/v2', 'g/v2']);
    assert.deepEqual([times, scene.questions], [2, [['next', 'live']]]);
    assert.equal(withOtherVersions({ conversion: undefined }, { signal: never }, () => 1), 1); // prettier-ignore
  });
});
