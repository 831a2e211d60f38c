import assert from 'node:assert/strict';

import { joinSignal, leaveSignal } from './aborts.js';

describe('joinSignal()', () => {
  it('tells all who wait, with the reason, and none who left', () => {
    const abort = new AbortController();
    const told: unknown[] = [];
    const members = ['a', 'b', 'c'].map((name) => ({ abort: (reason: unknown) => told.push([name, reason]) }));
    for (const it of members) joinSignal(abort.signal, it);
    leaveSignal(abort.signal, members[1]!);
    const reason = new Error('enough');
    abort.abort(reason);
    assert.deepEqual(told, [
      ['a', reason],
      ['c', reason],
    ]);
  });

  it('works again after all have left', () => {
    const abort = new AbortController();
    const member = { abort: () => (told = true) };
    let told = false;
    joinSignal(abort.signal, member);
    leaveSignal(abort.signal, member);
    leaveSignal(abort.signal, member);
    joinSignal(abort.signal, member);
    abort.abort();
    assert.equal(told, true);
  });

  it('adds one listener for many', () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    for (let i = 0; i < 100; i++) joinSignal(signal, { abort: () => undefined });
    process.emitWarning('the last one');
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        process.off('warning', onWarning);
        assert.deepEqual(
          warnings.map((it) => it.message),
          ['the last one'],
        );
        resolve();
      });
    });
  });
});
