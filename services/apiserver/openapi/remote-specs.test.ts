import assert from 'node:assert/strict';
import { done, type Work } from '../../machinery/work/work.js';
import { withSpecs } from './remote-specs.js';

function* own(): Work<object> {
  return { swagger: '2.0', paths: { '/a': { own: true } }, definitions: { Same: { type: 'object', x: undefined }, Meta: { type: 'object' } } }; // prettier-ignore
}
const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });

describe('withSpecs()', () => {
  it('adds paths and definitions, and leaves what is there', () => {
    const merged = done(withSpecs(own(), [{ paths: { '/a': {}, '/b': { get: ref('New') } }, definitions: { New: { p: ref('Same') }, Same: { type: 'object' } } }])); // prettier-ignore
    assert.deepEqual(JSON.parse(JSON.stringify(merged)), {
      swagger: '2.0',
      paths: { '/a': { own: true }, '/b': { get: ref('New') } },
      definitions: { Same: { type: 'object' }, Meta: { type: 'object' }, New: { p: ref('Same') } },
    });
  });

  it('renames a definition of which there is another one, and what refers to it', () => {
    const spec = { paths: { '/b': [ref('Meta'), ref('Meta_v2')] }, definitions: { Meta: { self: ref('Meta') }, Meta_v2: { type: 'string' } } }; // prettier-ignore
    const again = { paths: { '/c': ref('Meta') }, definitions: { Meta: { type: 'array' } } };
    const { paths, definitions } = done(withSpecs(own(), [spec, again])) as { paths: object; definitions: object };
    assert.deepEqual(Object.keys(definitions), ['Same', 'Meta', 'Meta_v3', 'Meta_v2', 'Meta_v4']);
    assert.deepEqual(
      { ...paths },
      { '/a': { own: true }, '/b': [ref('Meta_v3'), ref('Meta_v2')], '/c': ref('Meta_v4') },
    );
    assert.deepEqual((definitions as Record<string, unknown>)['Meta_v3'], { self: ref('Meta_v3') });
  });

  it('takes names of members of all objects for names', () => {
    const spec = JSON.parse('{"paths":{"/b":{"$ref":"#/definitions/__proto__"}},"definitions":{"__proto__":{"a":1},"constructor":{}}}') as { paths: Record<string, unknown>; definitions: Record<string, unknown> }; // prettier-ignore
    const { definitions } = done(withSpecs(own(), [spec])) as { definitions: object };
    assert.deepEqual(Object.keys(definitions), ['Same', 'Meta', '__proto__', 'constructor']);
    assert.equal(Object.getPrototypeOf(definitions), Object.prototype);
  });
});
