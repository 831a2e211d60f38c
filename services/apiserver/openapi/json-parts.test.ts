import assert from 'node:assert/strict';
import { jsonInParts } from './json-parts.js';

describe('jsonInParts()', () => {
  const document = {
    openapi: '3.0.0',
    info: { title: 'ünïcödé "quoted"\n', left: undefined },
    empty: {},
    none: null,
    list: [{ a: 1 }, 2],
    paths: { '/a': { get: { tags: ['x'], deep: { deeper: {} } } }, '/b': {} },
    components: { schemas: { Thing: { type: 'object' }, Other: { properties: { a: {} } } } },
  };

  it('says what JSON.stringify says', () => {
    for (const it of [document, {}, { a: undefined }, { a: undefined, b: 1 }]) {
      const work = jsonInParts(it);
      let part = work.next();
      while (part.done !== true) part = work.next();
      assert.equal(part.value.toString(), JSON.stringify(it));
    }
  });

  it('does so model by model', () => {
    let parts = 0;
    for (const work = jsonInParts(document); work.next().done !== true;) parts++;
    // openapi, title, none, list, the member of a path, two models
    assert.equal(parts, 7);
  });
});
