import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Line } from '../history/lines.js';
import { generate } from '../testing/generate.js';
import { writeReports } from './write.js';

describe('writeReports()', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'report-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  const reported = async (lines: readonly Line[]): Promise<{ count: number; page: string; text: string }> => {
    const path = join(dir, 'history.jsonl');
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { found } = await writeReports(path, dir, { outageMs: undefined });
    const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
    assert.deepEqual((JSON.parse(read('report.json')) as { found: unknown }).found, found);
    return { count: found.length, page: read('report.html'), text: read('report.txt') };
  };

  it('says that there is nothing', async () => {
    const { count, page, text } = await reported(generate({ seed: 1, operations: 300 }));
    assert.equal(count, 0);
    assert.ok(page.includes('No violation') && /violations: watches +0\n/.test(text));
  });

  it('shows the history of what failed, and nothing of it is markup', async () => {
    const lines = generate({ seed: 1, operations: 300 });
    const event = lines.find((it) => it.t === 'ev' && it.type === 'M' && it.stream < 1000);
    assert.ok(event?.t === 'ev');
    const name = event.seen[0];
    const evil = { t: 'op', id: 9_999, client: 1, verb: 'get', ns: 'a', name, start: 1, end: 2, code: 0 } as const;
    const { page, text } = await reported([...lines.filter((it) => it !== event), { ...evil, reason: '<script>' }]);
    assert.ok(page.includes(`<h2 id="a/${name}">`) && page.includes('<svg') && page.includes(`>${event.seen[1]}<`));
    assert.ok(page.includes('&lt;script&gt;') && !page.includes('<script>'));
    assert.ok(text.includes('watches: reliable'));
  });
});
