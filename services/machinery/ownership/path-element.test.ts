import assert from 'node:assert/strict';
import { canonicalElement, keyElement, printPath, UNKNOWN_ELEMENT, valueElement } from './fields-tree.js';

describe('canonicalElement()', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['f:spec', 'f:spec'],
    ['f:', 'f:'],
    ['f:__proto__', 'f:__proto__'],
    ['f:app.kubernetes.io/name', 'f:app.kubernetes.io/name'],
    ['k:{"name":"c"}', 'k:{"name":"c"}'],
    ['k:{ "name" : "c" }', 'k:{"name":"c"}'],
    ['k:{"protocol":"TCP","containerPort":80}', 'k:{"containerPort":80,"protocol":"TCP"}'],
    ['k:{"containerPort":80,"protocol":"TCP"}', 'k:{"containerPort":80,"protocol":"TCP"}'],
    ['k:{"c":1,"a":2,"b":3}', 'k:{"a":2,"b":3,"c":1}'],
    ['k:{"n":8e1}', 'k:{"n":80}'],
    ['k:{"n":"\\u0061"}', 'k:{"n":"a"}'],
    ['k:{"__proto__":"x"}', 'k:{"__proto__":"x"}'],
    ['k:{"n":{"deep":1}}', undefined],
    ['k:{"n":"{[\\"{"}', 'k:{"n":"{[\\"{"}'],
    ['k:{}', undefined],
    ['k:{"n":', undefined],
    ['k:[1]', undefined],
    ['v:"x"', 'v:"x"'],
    ['v: 1.0', 'v:1'],
    ['v:null', 'v:null'],
    ['v:[1]', undefined],
    ['v:', undefined],
    ['i:0', 'i:0'],
    ['i:x', undefined],
    ['x:later', UNKNOWN_ELEMENT],
    ['spec', undefined],
    ['__proto__', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) {
    it(`reads ${text || 'nothing'} as ${String(expected)}`, () => {
      assert.equal(canonicalElement(text), expected);
    });
  }

  it('leaves what is made here as it is', () => {
    const texts = ['', 'a', '"', '\\', '\u2028', '\ud800', 'ü', '\n', '😀'];
    for (const text of texts) {
      for (const made of [valueElement(text), keyElement([['name', text]])]) assert.equal(canonicalElement(made), made);
    }
  });
});

describe('printPath()', () => {
  it('writes paths as messages show them', () => {
    const path = ['f:spec', 'f:containers', 'k:{"name":"c"}', 'f:ports', 'k:{"containerPort":80,"protocol":"TCP"}'];
    assert.equal(printPath(path), '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"]');
    assert.equal(printPath(['f:metadata', 'f:finalizers', 'v:"x"']), '.metadata.finalizers[="x"]');
    assert.equal(printPath(['f:items', 'i:3']), '.items[3]');
  });
});
