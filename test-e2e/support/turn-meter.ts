import { closeSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server process (`--import`): knows the longest that one turn of its event loop has worked, in
 * milliseconds. What counts is the time that the thread had a processor, not the time that passed: on a busy machine a turn
 * takes as long as others let it. At each SIGUSR2 it writes a file, `<how many signals> <longest since the last one>`.
 */
const path = process.env['TURN_METER_FILE'];

function meter(file: string): void {
  const fd = openSync('/proc/self/schedstat', 'r');
  process.once('exit', () => closeSync(fd));
  const buffer = Buffer.alloc(128);
  const workedMs = (): number => {
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6;
  };
  let before = workedMs();
  let longest = 0;
  let signals = 0;
  const look = (): void => {
    const now = workedMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  // A timer of a millisecond comes round once in each turn that has something to do.
  setInterval(look, 1).unref();
  process.on('SIGUSR2', () => {
    look();
    writeFileSync(`${file}.new`, `${++signals} ${longest}`);
    renameSync(`${file}.new`, file); // it is read whole or not at all
    longest = 0;
  });
}

if (path !== undefined && isMainThread) meter(path);
