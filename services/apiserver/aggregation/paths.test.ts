import assert from 'node:assert/strict';
import { pathProblem, versionOf } from './paths.js';

describe('versionOf()', () => {
  it('tells the version that a path names', () => {
    assert.deepEqual(versionOf('/apis/a.b/v1'), { group: 'a.b', version: 'v1' });
    assert.deepEqual(versionOf('/apis/a%2Eb/v1/'), { group: 'a.b', version: 'v1' });
    for (const path of [
      '/apis/a.b',
      '/apis/a.b/v1/x',
      '/api/v1',
      '/apis//v1',
      '/apis/a%/v1',
      '/apis/a.b/v1//',
      '/x/apis/a.b/v1',
    ])
      // prettier-ignore
      assert.equal(versionOf(path), undefined, path);
  });
});

describe('pathProblem()', () => {
  it('is none for paths that can be read in one way', () => {
    const good = ['/apis/a.b/v1', '/apis/a.b/v1/', '/apis/a.b/v1/things', '/apis/a.b/v1/namespaces/n/things/x/part/8080/tcp', '/apis/a.b/v1/things/x%20y', '/apis/a.b/v1/things/x/proxy/a%2Fb//c', '/apis/a.b/v1/namespaces/n/things/x/proxy//', '/apis/a.b/v1/things/..x']; // prettier-ignore
    for (const path of good) assert.equal(pathProblem(path), undefined, path);
  });

  it('is one for those whose reader may go up, or see other segments', () => {
    const bad = ['/apis/a.b/v1/things%2Fx', '/apis/a.b/v1/things%5cx', '/apis/a.b/v1/../v2/x', '/apis/a.b/v1/%2e%2E/x', '/apis/a.b/v1/./x', '/apis/a.b/v1//things', '/apis/a.b/v1/things/%', '/apis/a.b/v1/namespaces/proxy/a%2Fb', '/apis/a.b/v1/things/x/proxy/../../y', '/apis/a.b/v1/proxy/x/a%2Fb']; // prettier-ignore
    for (const path of bad) assert.notEqual(pathProblem(path), undefined, path);
  });
});
