import assert from 'node:assert/strict';
import { pemBlocks, pemText } from './pem.js';
import { processorMs } from '../testing/processor-time.js';

describe('pemBlocks()', () => {
  it('finds blocks between other text', () => {
    const blocks = pemBlocks(`hello\n${pemText('A', Buffer.from([0, 1, 2]))}and\n${pemText('B', Buffer.alloc(0))}`);
    assert.deepEqual(blocks, [
      { type: 'A', hasHeaders: false, bytes: Buffer.from([0, 1, 2]) },
      { type: 'B', hasHeaders: false, bytes: Buffer.alloc(0) },
    ]);
  });

  it('sees headers, and leaves broken blocks out', () => {
    const [block] = pemBlocks('-----BEGIN A-----\nProc-Type: 4\nDEK-Info: x\n\nAAEC\n-----END A-----\n');
    assert.deepEqual(block, { type: 'A', hasHeaders: true, bytes: Buffer.from([0, 1, 2]) });
    assert.deepEqual(pemBlocks('-----BEGIN A-----\nAAE\n-----END A-----'), []);
    assert.deepEqual(pemBlocks('-----BEGIN A-----\nAAEC\n-----END B-----'), []);
    assert.deepEqual(pemBlocks('x-----BEGIN A-----\nAAEC\n-----END A-----'), []);
    assert.deepEqual(pemBlocks('-----BEGIN A-----'), []);
  });

  it('takes time linear in the text', () => {
    const begins = '-----BEGIN A-----\n'.repeat(100_000);
    const hostile = [begins, `${begins}\n-----END B-----`, '\n-----END A-----'.repeat(100_000)];
    assert.ok(processorMs(() => hostile.forEach((text) => pemBlocks(text))) < 3_000);
  });
});
