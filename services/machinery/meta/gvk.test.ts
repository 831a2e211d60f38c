import assert from 'node:assert/strict';
import { groupVersionPath, parseApiVersion } from './gvk.js';

describe('parseApiVersion()', () => {
  it('reads core and other groups', () => {
    assert.deepEqual(parseApiVersion('v1'), { group: '', version: 'v1' });
    assert.deepEqual(parseApiVersion('apps/v1'), { group: 'apps', version: 'v1' });
    assert.deepEqual(parseApiVersion(''), { group: '', version: '' });
  });

  it('refuses a second slash', () => {
    assert.equal(parseApiVersion('a/b/c'), undefined);
  });
});

describe('groupVersionPath()', () => {
  it('knows both roots', () => {
    assert.equal(groupVersionPath({ group: '', version: 'v1' }), '/api/v1');
    assert.equal(groupVersionPath({ group: 'apps', version: 'v1' }), '/apis/apps/v1');
  });
});
