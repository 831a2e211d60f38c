import assert from 'node:assert/strict';
import { hashIn, specOf } from './remote-schemas.js';

const of = { group: 'a.b', version: 'v1' };
const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });

describe('hashIn()', () => {
  const index = (url: unknown): object => ({ paths: { 'apis/a.b/v1': { serverRelativeURL: url } } });

  it('is that of the version', () => {
    assert.equal(hashIn(index('/openapi/v3/apis/a.b/v1?hash=0AF'), 'apis/a.b/v1'), '0AF');
    assert.equal(hashIn(index('/x?a=b&hash=c%3D'), 'apis/a.b/v1'), 'c=');
  });

  it('is none where it cannot be told', () => {
    for (const url of [7, undefined, '/x', '/x?hash=', '/x?hash=%0d%0aX:1', `/x?hash=${'a'.repeat(300)}`]) assert.equal(hashIn(index(url), 'apis/a.b/v1'), undefined); // prettier-ignore
    for (const it of [null, {}, { paths: [] }, { paths: {} }]) assert.equal(hashIn(it, 'constructor'), undefined);
  });
});

describe('specOf()', () => {
  it('has the paths of the version, and the definitions that they lead to', () => {
    const document = {
      paths: { '/apis/a.b/v1/things': { get: ref('Thing') }, '/apis/a.b/v10/things': {}, '/apis/apps/v1/x': { get: ref('Stranger') }, '/healthz': {} },
      definitions: { Thing: { properties: { spec: ref('Spec'), self: ref('Thing') } }, Spec: {}, Stranger: {}, Kind: { 'x-kubernetes-group-version-kind': [{ group: 'a.b', version: 'v1', kind: 'K' }] } },
    }; // prettier-ignore
    const spec = specOf(document, of);
    assert.deepEqual(Object.keys(spec?.paths ?? {}), ['/apis/a.b/v1/things']);
    assert.deepEqual(Object.keys(spec?.definitions ?? {}).sort(), ['Kind', 'Spec', 'Thing']);
  });

  it('is none of a document that says nothing of the version, and fails for none', () => {
    assert.equal(specOf({ paths: { '/apis/x/v1/': {} }, definitions: { X: {} } }, of), undefined);
    const found = specOf({ paths: { '/apis/a.b/v1/x': ref('constructor') }, definitions: {} }, of);
    assert.deepEqual(Object.keys(found?.definitions ?? { none: 1 }), []);
    assert.throws(() => specOf([], of), /no document/);
  });

  it('fails for what is nested too deep', () => {
    let deep: object = {};
    for (let i = 0; i < 5_000; i++) deep = { a: deep };
    assert.throws(() => specOf({ paths: { '/apis/a.b/v1/x': deep } }, of), /too deep/);
  });
});
