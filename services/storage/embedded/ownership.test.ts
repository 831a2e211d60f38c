import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isStoreError } from '../store.js';
import { own } from './ownership.js';

describe('own()', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ownership-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().replaceAll('-', '').slice(0, 16);
  const startOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!;
  const refused = (err: unknown): boolean => isStoreError(err, 'unavailable');

  it('leaves no file behind when released', () => {
    const ownership = own(directory);
    assert.equal(readdirSync(directory).length, 1);
    ownership.release();
    assert.deepEqual(readdirSync(directory), []);
    own(directory).release();
  });

  it('refuses the same process a second time, also by another name of the directory', () => {
    const ownership = own(directory);
    const alias = `${directory}-alias`;
    symlinkSync(directory, alias);
    try {
      assert.throws(() => own(directory), refused);
      assert.throws(() => own(alias), refused);
      assert.equal(readdirSync(directory).length, 1);
    } finally {
      rmSync(alias);
      ownership.release();
    }
  });

  it('refuses a directory of a living process, and leaves its file', () => {
    const theirs = `owner.${boot}.${process.ppid}.${startOf(process.ppid)}`;
    writeFileSync(join(directory, theirs), '');
    assert.throws(() => own(directory), new RegExp(`process ${process.ppid} has it open`));
    assert.deepEqual(readdirSync(directory), [theirs]);
  });

  for (const [what, name] of [
    ['a process that is gone', `owner.${boot}.4194303.12345`],
    ['a process whose number went to another', `owner.${boot}.${process.ppid}.1`],
    ['a process from before the machine started again', `owner.0123456789abcdef.${process.ppid}.1`],
  ] as const) {
    it(`takes over from ${what}`, () => {
      writeFileSync(join(directory, name), '');
      const ownership = own(directory);
      assert.ok(!readdirSync(directory).includes(name));
      ownership.release();
    });
  }

  it('leaves other files alone', () => {
    writeFileSync(join(directory, 'owner.txt'), '');
    own(directory).release();
    assert.deepEqual(readdirSync(directory), ['owner.txt']);
  });
});
