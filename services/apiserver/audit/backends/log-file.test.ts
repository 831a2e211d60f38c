import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogFile, type LogFileOptions } from './log-file.js';
import { rotatedAmong } from './rotation.js';

const NOW = Date.parse('2022-05-24T10:00:00.000Z');

describe('LogFile', () => {
  let dir: string;
  let path: string;
  let opened: LogFile | undefined;
  let warnings: string[];
  const open = async (o: Partial<LogFileOptions> = {}): Promise<LogFile> =>
    (opened = await LogFile.open({
      path,
      maxBytes: 0,
      maxBackups: 0,
      maxAgeMs: 0,
      compress: false,
      nowMs: () => NOW,
      log: { warn: (message) => void warnings.push(message) },
      ...o,
    }));
  const lines = (file = path): string[] => readFileSync(file, 'utf8').split('\n');
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'audit-log-'));
    path = join(dir, 'deep/down/audit.log');
    opened = undefined;
    warnings = [];
  });
  afterEach(async () => {
    await opened?.close();
    rmSync(dir, { recursive: true });
  });

  for (const [what, prepare] of [
    ['is a directory', (): void => void mkdirSync(path, { recursive: true })],
    ['lies in what is no directory', (): void => writeFileSync(join(dir, 'deep'), '')],
  ] as const) {
    it(`refuses a path that ${what}, in one line`, async () => {
      prepare();
      await assert.rejects(open(), ({ message }: Error) => {
        assert.ok(message.startsWith(`Cannot write the audit log ${path}: `), message);
        return true;
      });
    });
  }

  it('makes the directory and the file, for nobody else to read', async () => {
    await open();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(dir, 'deep/down')).mode & 0o777, 0o700);
  });

  it('writes a line for each event, behind what is there', async () => {
    const it = await open();
    await it.write(['{"a":1}', '{"b":"ä"}']);
    await it.write(['{"c":3}']);
    await it.close();
    const again = await open();
    await again.write(['{"d":4}']);
    assert.deepEqual(lines(), ['{"a":1}', '{"b":"ä"}', '{"c":3}', '{"d":4}', '']);
  });

  it('ends a line that somebody was stopped in', async () => {
    await (await open()).close();
    appendFileSync(path, '{"a":1}\n{"ha');
    const it = await open();
    await it.write(['{"b":2}']);
    await it.write(['{"c":3}']);
    assert.deepEqual(lines(), ['{"a":1}', '{"ha', '{"b":2}', '{"c":3}', '']);
  });

  it('writes many large events whole', async () => {
    const it = await open();
    const events = Array.from({ length: 50 }, (_, i) => JSON.stringify({ i, pad: 'x'.repeat(100_000) }));
    await it.write(events);
    assert.deepEqual(lines(), [...events, '']);
  });

  it('is rotated before it grows too large, between events', async () => {
    const it = await open({ maxBytes: 20 });
    await it.write(['1234567', '2345678', '3456789', 'longer than what a file may hold', '4']);
    await it.close();
    const files = [...rotatedAmong(readdirSync(join(dir, 'deep/down')), path)].reverse();
    assert.deepEqual(
      [...files.map((file) => file.path), path].map((file) => lines(file)),
      [
        ['1234567', '2345678', ''],
        ['3456789', ''],
        ['longer than what a file may hold', ''],
        ['4', ''],
      ],
    );
    assert.ok(files.every((file) => (statSync(file.path).mode & 0o777) === 0o600));
  });

  it('counts what was in the file before', async () => {
    const it = await open();
    await it.write(['123456789']);
    await it.close();
    const again = await open({ maxBytes: 15 });
    await again.write(['abcdefghi']);
    assert.deepEqual(lines(), ['abcdefghi', '']);
  });

  it('is never rotated without a bound', async () => {
    const it = await open();
    for (let i = 0; i < 10; i++) await it.write(['x'.repeat(1000)]);
    assert.deepEqual(readdirSync(join(dir, 'deep/down')), ['audit.log']);
  });

  it('keeps so many old files, those of before included', async () => {
    mkdirSync(join(dir, 'deep/down'), { recursive: true });
    writeFileSync(join(dir, 'deep/down/audit-2022-05-01T00-00-00.000.log'), '');
    const it = await open({ maxBytes: 4, maxBackups: 2 });
    for (const event of ['aaa', 'bbb', 'ccc', 'ddd']) await it.write([event]);
    await it.close();
    const kept = rotatedAmong(readdirSync(join(dir, 'deep/down')), path);
    assert.deepEqual(
      kept.map((file) => lines(file.path)[0]),
      ['ccc', 'bbb'],
    );
  });

  it('removes what is too old when it begins', async () => {
    mkdirSync(join(dir, 'deep/down'), { recursive: true });
    writeFileSync(join(dir, 'deep/down/audit-2022-05-01T00-00-00.000.log'), '');
    await (await open({ maxAgeMs: 60_000 })).close();
    assert.deepEqual(readdirSync(join(dir, 'deep/down')), ['audit.log']);
  });

  it('grows on when it cannot be rotated, and says so', async () => {
    path = join(dir, 'x'.repeat(250)); // a rotated one would have a longer name than there can be
    const it = await open({ maxBytes: 4 });
    await it.write(['aaa']);
    await it.write(['bbb']);
    assert.deepEqual(lines(), ['aaa', 'bbb', '']);
    assert.deepEqual(warnings, ['The audit log cannot be rotated and grows on']);
  });

  it('begins anew when somebody has taken the file away before it is rotated', async () => {
    const it = await open({ maxBytes: 4 });
    await it.write(['aaa']);
    rmSync(path);
    await it.write(['bbb']);
    assert.deepEqual([lines(), warnings], [['bbb', ''], []]);
  });

  describe('on a disk that gets full within a line', () => {
    /** The next writes take so many bytes each, and fail then. */
    const room: number[] = [];
    let restore: () => void;
    before(async () => {
      const handle = await openFile('/dev/null', 'w');
      type Write = (this: FileHandle, bytes: Buffer, at: number, length?: number) => Promise<unknown>;
      const handles = Object.getPrototypeOf(handle) as { write: Write };
      await handle.close();
      const { write } = handles;
      handles.write = function (bytes, at) {
        const left = room.shift();
        if (left !== 0) return write.call(this, bytes, at, left);
        return Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
      };
      restore = () => (handles.write = write);
    });
    after(() => restore());

    it('goes on where it stopped when there is room at once', async () => {
      const it = await open();
      room.push(3, 0);
      await it.write(['{"a":1}', '{"b":2}']);
      assert.deepEqual(lines(), ['{"a":1}', '{"b":2}', '']);
    });

    it('begins a line of its own after one that is torn', async () => {
      const it = await open();
      room.push(3, 0, 0);
      await assert.rejects(it.write(['{"a":1}', '{"b":2}']), { code: 'ENOSPC' });
      await it.write(['{"c":3}']);
      assert.deepEqual(lines(), ['{"a', '{"c":3}', '']);
    });

    it('leaves no empty line when it stopped between two', async () => {
      const it = await open();
      room.push(8, 0, 0);
      await assert.rejects(it.write(['{"a":1}', '{"b":2}']), { code: 'ENOSPC' });
      await it.write(['{"c":3}']);
      assert.deepEqual(lines(), ['{"a":1}', '{"c":3}', '']);
    });

    it('ends the torn line once, however often it fails behind that', async () => {
      const it = await open();
      room.push(3, 0, 0);
      await assert.rejects(it.write(['{"a":1}']), { code: 'ENOSPC' });
      room.push(1, 0, 0); // there is room for the end of the line alone
      await assert.rejects(it.write(['{"b":2}']), { code: 'ENOSPC' });
      await it.write(['{"c":3}']);
      assert.deepEqual(lines(), ['{"a', '{"c":3}', '']);
    });
  });

  describe('on a disk that is full', () => {
    // This device takes what is opened, and refuses every write.
    const full = async (): Promise<LogFile> => {
      mkdirSync(join(dir, 'deep/down'), { recursive: true });
      symlinkSync('/dev/full', path);
      return open();
    };

    it('says that events are lost', async () => {
      const it = await full();
      await assert.rejects(it.write(['{"a":1}']), { code: 'ENOSPC' });
      await assert.rejects(it.write(['{"b":2}']), { code: 'ENOSPC' });
    });

    it('goes on when there is room again', async () => {
      const it = await full();
      await assert.rejects(it.write(['{"a":1}']), { code: 'ENOSPC' });
      rmSync(path);
      await it.write(['{"b":2}']);
      assert.deepEqual(lines(), ['{"b":2}', '']);
    });
  });
});
