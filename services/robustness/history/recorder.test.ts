import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Body, Line } from './lines.js';
import { linesOf, readHistory } from './read.js';
import { Recorder } from './recorder.js';

const RUN: Line = { t: 'run', version: 1, seed: 1, options: {}, pools: { a: 'main' } };
const BODY: Body = { uid: 'u', labels: {}, data: { v: '1' } };

describe('Recorder', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'recorder-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it('tells a body once, and what it writes can be read', async () => {
    const recorder = new Recorder(join(dir, 'history.jsonl'));
    recorder.write(RUN);
    const seen = [recorder.seen('a', 'x', 5, BODY), recorder.seen('a', 'x', 5, BODY), recorder.seen('b', 'x', 5, BODY)];
    assert.deepEqual(seen.map((it) => it[3] !== undefined), [true, false, true]); // prettier-ignore
    for (const [id, it] of seen.slice(0, 2).entries()) {
      recorder.write({ t: 'op', id, client: 1, verb: 'get', ns: 'a', name: 'x', start: id, end: id, code: 200, seen: [it] }); // prettier-ignore
    }
    await recorder.close();
    const { operations, items } = await readHistory(recorder.path);
    assert.deepEqual(operations.map(({ states }) => states[0]?.body?.data['v']), ['1', '1']); // prettier-ignore
    assert.equal(items.get('a/x')?.states.length, 1);
  });

  it('fails where the file cannot be written', async () => {
    const recorder = new Recorder(join(dir, 'not there', 'history.jsonl'));
    recorder.write(RUN);
    await assert.rejects(recorder.close(), /ENOENT/);
  });

  it('names the line that is none', async () => {
    const path = join(dir, 'history.jsonl');
    writeFileSync(path, `${JSON.stringify(RUN)}\nnonsense\n`);
    const read = async (): Promise<number> => {
      let count = 0;
      for await (const line of linesOf(path)) count += line.t === 'run' ? 1 : 0;
      return count;
    };
    await assert.rejects(read(), /Line 2 of .* is none of a history/);
  });
});
