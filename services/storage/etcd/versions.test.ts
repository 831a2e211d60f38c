import assert from 'node:assert/strict';

import { capabilitiesOf } from './versions.js';

describe('capabilitiesOf()', () => {
  for (const [version, reliableProgress, warnings] of [
    ['3.3.25', false, 2],
    ['3.4.23', false, 2],
    ['3.4.30', false, 2],
    ['3.4.31', true, 1],
    ['3.4.42', true, 0],
    ['3.5.0', false, 2],
    ['3.5.12', false, 2],
    ['3.5.13', true, 1],
    ['3.5.16', true, 1],
    ['3.5.28', true, 0],
    ['3.6.8', true, 1],
    ['3.6.9', true, 0],
    ['3.7.0', true, 0],
    ['4.0.0', true, 0],
    ['3.5.0-rc.1', false, 2],
    ['unknown', true, 0],
  ] as const) {
    it(`${reliableProgress ? 'relies' : 'does not rely'} on progress of ${version} and warns ${warnings} times`, () => {
      const found = capabilitiesOf([version]);
      assert.deepEqual([found.reliableProgress, found.warnings.length], [reliableProgress, warnings]);
      assert.ok(found.warnings.every((it) => it.includes(version)));
    });
  }

  it('counts the worst member', () => {
    const found = capabilitiesOf(['3.5.28', '3.5.12', '3.5.28']);
    assert.equal(found.reliableProgress, false);
    assert.ok(found.warnings.every((it) => it.includes('3.5.12')));
  });

  it('trusts what it does not know', () => {
    assert.deepEqual(capabilitiesOf([]), { reliableProgress: true, warnings: [] });
  });
});
