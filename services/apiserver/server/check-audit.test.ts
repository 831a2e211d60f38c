import assert from 'node:assert/strict';
import { parseFlags } from '../../machinery/flags/flags.js';
import { AUDIT_FLAGS } from '../options/audit.js';
import { checkAudit } from './check-audit.js';

const check = (...argv: string[]): void => checkAudit(parseFlags(AUDIT_FLAGS, argv).options);

describe('checkAudit()', () => {
  for (const backend of ['log', 'webhook']) {
    it(`refuses a batch of the ${backend} that would never be full`, () => {
      assert.throws(() => check(`--audit-${backend}-batch-max-size=11`, `--audit-${backend}-batch-buffer-size=10`), {
        message: `--audit-${backend}-batch-max-size is larger than --audit-${backend}-batch-buffer-size`,
      });
    });
  }

  it('takes what is there by default', () => check());
});
