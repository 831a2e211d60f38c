import assert from 'node:assert/strict';
import { FlagError, parseFlags } from '../../machinery/flags/flags.js';
import { API_SERVER_FLAGS } from './flags.js';

const parsed = (...argv: string[]): ReturnType<typeof parseFlags<typeof API_SERVER_FLAGS>>['options'] =>
  parseFlags(API_SERVER_FLAGS, argv).options;

describe('--shutdown-drain-duration', () => {
  it('is ten seconds unless it is said', () => {
    assert.equal(parsed().shutdownDrainMs, 10_000);
    assert.equal(parsed('--shutdown-drain-duration=1m30s').shutdownDrainMs, 90_000);
  });

  it('has bounds', () => {
    for (const wrong of ['0s', '99ms', '61m', '10', 'x']) {
      assert.throws(() => parsed(`--shutdown-drain-duration=${wrong}`), FlagError, wrong);
    }
  });
});
