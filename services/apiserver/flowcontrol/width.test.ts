import assert from 'node:assert/strict';
import type { CachedObject } from '../cache/cached-object.js';
import { HistoryBudget } from '../cache/history.js';
import { ResourceCache } from '../cache/resource-cache.js';
import { cached, FORM, LAYOUT, PREFIX } from '../cache/testing/objects.js';
import type { RequestInfo } from '../request/request.js';
import { ask, askPath } from './testing/flow-scene.js';
import { widthOf } from './width.js';

function cacheWith(namespaces: Readonly<Record<string, number>>): ResourceCache {
  const budget = new HistoryBudget({ maxBytes: 1_000_000, retainMs: 1_000 });
  const cache = new ResourceCache({ prefix: PREFIX, namespaced: true }, LAYOUT, FORM, budget);
  const objects: CachedObject[] = [];
  for (const [namespace, count] of Object.entries(namespaces)) {
    for (let i = 0; i < count; i++) objects.push(cached(namespace, `c${i}`, 1));
  }
  cache.load(objects, 1);
  return cache;
}

describe('widthOf()', () => {
  const cache = cacheWith({ small: 30, large: 401, huge: 2_000 });
  const list = (namespace = ''): RequestInfo => ask('list', 'configmaps', namespace);
  for (const [what, info, query, width] of [
    ['a list of all', list(), '', 10],
    ['a list of a large namespace', list('large'), '', 5],
    ['a list of a small namespace', list('small'), '', 1],
    ['a list of an empty namespace', list('none'), '', 1],
    ['a page', list(), 'limit=250', 3],
    ['a page that is longer than the list', list('large'), 'limit=5000', 5],
    ['a page of a selector, which looks at all', list('large'), 'limit=1&labelSelector=a', 5],
    ['a list by a field', list('large'), 'fieldSelector=a%3Db', 5],
    ['a limit that is none', list('large'), 'limit=x', 5],
    ['a negative limit', list('large'), 'limit=-1', 5],
    ['a watch', ask('watch', 'configmaps'), '', 1],
    ['a get', ask('get', 'configmaps', 'huge'), '', 1],
    ['a write', ask('deletecollection', 'configmaps', 'huge'), '', 1],
    ['a path', askPath('list', '/version'), '', 1],
  ] as const) {
    it(`is ${width} for ${what}`, () => {
      assert.equal(
        widthOf(info, new URLSearchParams(query), () => cache),
        width,
      );
    });
  }

  it('is one for what is not served', () => {
    assert.equal(
      widthOf(list(), new URLSearchParams(), () => undefined),
      1,
    );
  });

  it('is one where there is little, without a look at the query', () => {
    const few = cacheWith({ a: 100 });
    assert.equal(
      widthOf(list(), new URLSearchParams('labelSelector=a'), () => few),
      1,
    );
  });
});
