import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileChanges } from './file-changes.js';

describe('FileChanges', () => {
  let dir: string;
  let a: string;
  let b: string;
  let changes: FileChanges;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'changes-'));
    a = join(dir, 'a');
    b = join(dir, 'b');
    writeFileSync(a, '1');
    changes = new FileChanges([a, b]);
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('notices a file that is written, replaced, made or removed, once each', () => {
    assert.equal(changes.noticed(), false);
    const steps = [
      () => writeFileSync(a, 'longer'),
      () => {
        writeFileSync(join(dir, 'new'), 'second');
        renameSync(join(dir, 'new'), a);
      },
      () => writeFileSync(b, ''),
      () => unlinkSync(b),
    ];
    for (const step of steps) {
      step();
      assert.equal(changes.noticed(), true);
      assert.equal(changes.noticed(), false);
    }
  });

  it('notices a link that leads elsewhere', () => {
    symlinkSync(a, b);
    assert.equal(changes.noticed(), true);
    writeFileSync(join(dir, 'other'), '1');
    symlinkSync(join(dir, 'other'), join(dir, 'new'));
    renameSync(join(dir, 'new'), b);
    assert.equal(changes.noticed(), true);
  });

  it('calls back for what changed before it was watched', (done) => {
    writeFileSync(a, 'longer');
    const stop = changes.watch(1, () => {
      stop();
      done();
    });
  });
});
