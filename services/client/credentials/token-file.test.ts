import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenFileCredentials } from './token-file.js';
import type { Credentials } from './credential.js';

describe('tokenFileCredentials()', () => {
  let directory: string;
  let file: string;
  let now = 0;
  let warnings: string[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'token-file-'));
    file = join(directory, 'token');
    now = 0;
    warnings = [];
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const open = (): Credentials =>
    tokenFileCredentials(file, {
      now: () => now,
      warn: (message, { err }: { err?: Error }) => void warnings.push(`${message}: ${err?.message ?? ''}`),
    });
  const shown = async (credentials: Credentials): Promise<string | undefined> =>
    (await credentials.current(AbortSignal.timeout(5000))).headers['authorization'];

  for (const [what, text, why] of [
    ['is empty', ' \n', 'holds no usable token'],
    ['holds two lines', 's3cret\nb', 'holds no usable token'],
    ['holds other letters', 's3crét', 'holds no usable token'],
    ['is too long', 'x'.repeat(64 * 1024 + 1), 'is longer than 65536 bytes'],
  ] as const) {
    it(`refuses a file that ${what}`, () => {
      writeFileSync(file, text);
      assert.throws(open, { message: `${file}: ${why}` });
    });
  }

  it('looks at the file every ten seconds, and reads a changed one', async () => {
    writeFileSync(file, 'one\n');
    const credentials = open();
    writeFileSync(file, 'two\n');
    now = 9_999;
    assert.equal(await shown(credentials), 'Bearer one');
    now = 10_000;
    assert.equal(await shown(credentials), 'Bearer two');
    writeFileSync(`${file}.next`, 'six');
    renameSync(`${file}.next`, file);
    now = 19_999;
    assert.equal(await shown(credentials), 'Bearer two');
    now = 20_000;
    assert.equal(await shown(credentials), 'Bearer six');
  });

  it('goes on with the last token when the file has none, and says so once', async () => {
    writeFileSync(file, 'one');
    const credentials = open();
    writeFileSync(file, '');
    now = 10_000;
    for (let i = 0; i < 3; i++) assert.equal(await shown(credentials), 'Bearer one');
    const message = 'Token file cannot be used, the last token goes on being used';
    assert.deepEqual(warnings, [`${message}: ${file}: holds no usable token`]);
    rmSync(file);
    now = 20_000;
    for (let i = 0; i < 3; i++) assert.equal(await shown(credentials), 'Bearer one');
    assert.deepEqual(warnings.slice(1), [`${message}: ${file}: does not exist`]);
    writeFileSync(file, 'two');
    now = 30_000;
    assert.equal(await shown(credentials), 'Bearer two');
  });
});
