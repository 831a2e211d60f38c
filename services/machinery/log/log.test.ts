import assert from 'node:assert/strict';
import type { LogOptions } from './flags.js';
import { createLog, type ProcessLog } from './log.js';

describe('createLog()', () => {
  let lines: string[];
  const open = (o: LogOptions = {}): ProcessLog => {
    lines = [];
    return createLog(o, { write: (line: string) => void lines.push(line) });
  };
  const told = (log: ProcessLog): string => {
    lines.length = 0;
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level](level);
    return lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join(' ');
  };

  it('writes an object of JSON a line', () => {
    open().warn('Store lost', { endpoint: 'a', err: new TypeError('away') });
    const { time, ...entry } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    assert.ok(Number.isFinite(Date.parse(String(time))));
    const { stack, ...err } = entry['err'] as Record<string, string>;
    assert.match(stack ?? '', /^TypeError: away\n/);
    assert.deepEqual({ ...entry, err }, { level: 40, msg: 'Store lost', endpoint: 'a', err: { type: 'TypeError', message: 'away' } }); // prettier-ignore
  });

  it('writes a line for people', () => {
    for (const o of [{ logFormat: 'text' }, { logFormat: 'json', loggingFormat: 'text' }]) {
      const log = open(o);
      log.info('Store lost', { endpoint: 'https://a:1', said: 'two words', left: 3, err: new Error('away') });
      assert.match(
        lines[0] ?? '',
        /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}Store lost endpoint=https:\/\/a:1 said="two words" left=3 err=away\n$/,
      );
      log.error('It\nfailed', { err: new Error('away') });
      assert.match(lines[1] ?? '', /ERROR It failed err=away\n {4}Error: away\n {8}at /);
    }
  });

  it('says what its level lets through, and more with its verbosity, which changes', () => {
    assert.equal(told(open()), 'info warn error');
    assert.equal(told(open({ logLevel: 'error' })), 'error');
    assert.equal(told(open({ logLevel: 'error', verbosity: 3 })), 'info warn error');
    assert.equal(told(open({ logLevel: 'debug', verbosity: 3 })), 'debug info warn error');
    const log = open({ logLevel: 'warn', verbosity: 4 });
    assert.equal(told(log), 'debug info warn error');
    log.verbosity.level = 0;
    assert.equal(told(log), 'warn error');
    assert.equal(log.verbosity.level, 0);
  });

  it('tells no secrets, whatever they come in', () => {
    const log = open();
    log.error('Cannot use Bearer abc-secret', {
      err: new Error('token=abc-secret', { cause: new Error('Basic abc-secret') }),
      headers: { authorization: 'abc-secret' },
      url: 'https://u:abc-secret@host/',
    });
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines[0] ?? '', /abc-secret/);
  });
});
