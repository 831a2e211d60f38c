import assert from 'node:assert/strict';
import { storageVersionHash } from './storage-version-hash.js';

describe('storageVersionHash()', () => {
  // As clients see them in the discovery of other servers.
  const known = [
    ['', 'v1', 'Pod', 'xPOwRZ+Yhw8='],
    ['', 'v1', 'ConfigMap', 'qFsyl6wFWjQ='],
    ['apps', 'v1', 'Deployment', '8aSe+NMegvE='],
  ] as const;
  for (const [group, version, kind, hash] of known) {
    it(`is ${hash} for ${kind}`, () => assert.equal(storageVersionHash(group, version, kind), hash));
  }
});
