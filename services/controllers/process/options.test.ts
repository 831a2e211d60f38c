import assert from 'node:assert/strict';
import { FlagError, parseFlags } from '../../machinery/flags/flags.js';
import { checkElection, ELECTION_FLAGS } from './options.js';

describe('checkElection()', () => {
  const check = (...argv: string[]): void => checkElection(parseFlags(ELECTION_FLAGS, argv).options);
  const [LEASE, RENEW, RETRY] = ['--leader-elect-lease-duration', '--leader-elect-renew-deadline', '--leader-elect-retry-period']; // prettier-ignore

  it('lets the defaults pass', () => check());
  it('wants the renew deadline below the lease duration', () => {
    check(`${LEASE}=10001ms`);
    assert.throws(() => check(`${LEASE}=10s`), FlagError);
  });
  it('wants several tries before the renew deadline', () => {
    check(`${RENEW}=2401ms`);
    assert.throws(() => check(`${RENEW}=2400ms`), FlagError);
    assert.throws(() => check(`${RETRY}=10s`), FlagError);
  });
  it('asks for nothing where nobody is elected', () => check('--leader-elect=false', `${LEASE}=1s`));
});
