import assert from 'node:assert/strict';
import { identityOf, isOver } from './identity-lease.js';

describe('identityOf()', () => {
  it('is what other servers of this API call themselves on such a host', () => {
    // base32 of the first 16 bytes of the digest, in small letters and unpadded
    assert.equal(identityOf('abc'), 'apiserver-xj4bnp4pahh6uqkbidpf3lrcem');
    assert.notEqual(identityOf('abd'), identityOf('abc'));
  });
});

describe('isOver()', () => {
  const lease = (spec: object): object => ({ spec });
  const renewTime = '2026-01-01T00:00:00.000000Z';
  const at = (seconds: number): number => Date.parse(renewTime) + seconds * 1_000;

  it('is what was not renewed for longer than it is good for', () => {
    assert.equal(isOver(lease({ renewTime, leaseDurationSeconds: 3600 }), at(3600)), false);
    assert.equal(isOver(lease({ renewTime, leaseDurationSeconds: 3600 }), at(3601)), true);
  });

  it('is what does not say how long', () => {
    for (const spec of [{}, { renewTime }, { leaseDurationSeconds: 3600 }]) assert.ok(isOver(lease(spec), at(0)));
    assert.ok(isOver({}, at(0)));
  });
});
