import assert from 'node:assert/strict';
import type { LeaseId } from '../../storage/store.js';
import { BackupWriter, checkBackup, readBackup } from './backup-file.js';
import { FORMAT_VERSION, framedJson, MAGIC, type BackupEntry, type BackupHeader } from './format.js';

const HEADER: BackupHeader = {
  formatVersion: FORMAT_VERSION,
  productVersion: '1.24.0',
  vocabulary: 'platform',
  prefix: '/registry/',
  revision: 42,
  time: '2026-01-02T03:04:05.000Z',
  count: 3,
};
const ENTRIES: readonly BackupEntry[] = [
  { key: '-/vocabulary', value: Buffer.from('platform'), createRevision: 2, modRevision: 2, lease: undefined },
  {
    key: 'core/events/a/ü',
    value: Buffer.from('{}'),
    createRevision: 2 ** 40,
    modRevision: 2 ** 41,
    lease: { id: '9223372036854775807' as LeaseId, secondsLeft: 17 },
  },
  {
    key: 'core/secrets/a/s',
    value: Buffer.from('platform:enc:aesgcm:v1:k:\x00\x01'),
    createRevision: 3,
    modRevision: 3,
    lease: undefined,
  },
];

async function written(entries: readonly BackupEntry[] = ENTRIES, header = HEADER): Promise<Buffer> {
  const parts: Buffer[] = [];
  const sink = (bytes: Buffer): Promise<void> => Promise.resolve(void parts.push(Buffer.from(bytes)));
  const writer = new BackupWriter(sink, header);
  for (const entry of entries) await writer.add(entry);
  await writer.finish();
  return Buffer.concat(parts);
}

/** In chunks of `size` bytes. */
const sourceOf = (bytes: Buffer, size = 7) =>
  async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
  };

describe('a backup', () => {
  it('is read as it was written', async () => {
    const entries = readBackup(sourceOf(await written()));
    const read: BackupEntry[] = [];
    let next = await entries.next();
    for (; next.done !== true; next = await entries.next()) read.push(next.value);
    assert.deepEqual(read, ENTRIES);
    const { digest, ...summary } = next.value;
    assert.deepEqual(summary, { ...HEADER, entries: 3, leased: 1, encrypted: 1 });
    assert.match(digest, /^[0-9a-f]{64}$/);
  });

  it('is refused with any byte of it changed, missing or added', async () => {
    const whole = await written();
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await assert.rejects(checkBackup(sourceOf(changed)), { name: 'CommandError' }, `byte ${at} changed`);
      await assert.rejects(checkBackup(sourceOf(whole.subarray(0, at))), { name: 'CommandError' }, `cut at ${at}`);
    }
    await assert.rejects(checkBackup(sourceOf(Buffer.concat([whole, Buffer.of(0)]))), { name: 'CommandError' });
  });

  it('says that it is of another format', async () => {
    const other = await written(ENTRIES, { ...HEADER, formatVersion: 2, productVersion: '9.0.0' });
    await assert.rejects(checkBackup(sourceOf(other)), /format 2 \(made by 9\.0\.0\)/);
    await assert.rejects(checkBackup(sourceOf(Buffer.concat([MAGIC, framedJson({})]))), /The header .* cannot be read/);
  });

  it('holds each key once, and as many as its header says', async () => {
    const [first, second] = ENTRIES;
    assert.ok(first !== undefined && second !== undefined);
    await assert.rejects(checkBackup(sourceOf(await written([second, first]))), /not in order/);
    await assert.rejects(checkBackup(sourceOf(await written([first, first]))), /not in order/);
    await assert.rejects(checkBackup(sourceOf(await written([first]))), /damaged/);
  });
});
