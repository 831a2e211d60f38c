import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { freeRotatedName, rotatedAmong, rotatedName, tidy, type RotationRules } from './rotation.js';

const NOW = Date.parse('2022-05-24T10:00:00.000Z');
const DAY_MS = 24 * 60 * 60_000;
const KEEP_ALL: RotationRules = { maxBackups: 0, maxAgeMs: 0, compress: false };

describe('rotatedName()', () => {
  for (const [path, name] of [
    ['/a/audit.log', '/a/audit-2022-05-24T10-00-00.000.log'],
    ['/a/audit', '/a/audit-2022-05-24T10-00-00.000'],
    ['/a.b/x.y.json', '/a.b/x.y-2022-05-24T10-00-00.000.json'],
  ] as const) {
    it(`puts the time into ${path}`, () => assert.equal(rotatedName(path, NOW), name));
  }
});

describe('rotatedAmong()', () => {
  it('knows its own, the newest first, and leaves others alone', () => {
    const names = [
      'audit.log',
      'audit-2022-05-24T10-00-00.000.log',
      'audit-2022-05-25T10-00-00.000.log.gz',
      'audit-2022-05-24T10-00-00.000.log.gz.tmp',
      'audit-2022-05-24T10-00-00.000.txt',
      'audit-important.log',
      'audit-.log',
      'other-2022-05-24T10-00-00.000.log',
    ];
    assert.deepEqual(rotatedAmong(names, '/a/audit.log'), [
      { path: '/a/audit-2022-05-25T10-00-00.000.log.gz', epochMs: NOW + DAY_MS, zipped: true },
      { path: '/a/audit-2022-05-24T10-00-00.000.log', epochMs: NOW, zipped: false },
    ]);
  });
});

describe('in a directory', () => {
  let dir: string;
  let path: string;
  const make = (...daysAgo: number[]): void => {
    for (const days of daysAgo) writeFileSync(rotatedName(path, NOW - days * DAY_MS), `${days} days`);
  };
  const left = (): number[] => rotatedAmong(readdirSync(dir), path).map(({ epochMs }) => (NOW - epochMs) / DAY_MS);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'audit-rotation-'));
    path = join(dir, 'audit.log');
    writeFileSync(path, 'now');
    writeFileSync(join(dir, 'audit-mine.log'), '');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  describe('tidy()', () => {
    const CASES: readonly (readonly [what: string, rules: Partial<RotationRules>, kept: number[]])[] = [
      ['nothing without a bound', {}, [0, 1, 2, 30]],
      ['the oldest, when there are too many', { maxBackups: 2 }, [0, 1]],
      ['none, when there are few', { maxBackups: 4 }, [0, 1, 2, 30]],
      ['those that are too old', { maxAgeMs: 2 * DAY_MS }, [0, 1, 2]],
      ['by both bounds', { maxAgeMs: 2 * DAY_MS, maxBackups: 1 }, [0]],
    ];
    for (const [what, rules, kept] of CASES) {
      it(`removes ${what}`, async () => {
        make(0, 1, 2, 30);
        await tidy(path, { ...KEEP_ALL, ...rules }, NOW);
        assert.deepEqual(left(), kept);
        assert.equal(readFileSync(path, 'utf8'), 'now');
        assert.ok(readdirSync(dir).includes('audit-mine.log'));
      });
    }

    it('compresses what stays, once', async () => {
      make(0, 1, 9);
      for (let i = 0; i < 2; i++) await tidy(path, { maxBackups: 2, maxAgeMs: 0, compress: true }, NOW);
      const zipped = `${rotatedName(path, NOW)}.gz`;
      assert.deepEqual(readdirSync(dir).sort(), [
        'audit-2022-05-23T10-00-00.000.log.gz',
        'audit-2022-05-24T10-00-00.000.log.gz',
        'audit-mine.log',
        'audit.log',
      ]);
      assert.equal(gunzipSync(readFileSync(zipped)).toString(), '0 days');
      assert.equal(statSync(zipped).mode & 0o777, 0o600);
    });

    it('compresses again what was stopped half-way', async () => {
      make(0, 1);
      writeFileSync(`${rotatedName(path, NOW)}.gz`, 'half of it');
      await tidy(path, { ...KEEP_ALL, compress: true }, NOW);
      assert.deepEqual(left(), [0, 1]);
      assert.equal(gunzipSync(readFileSync(`${rotatedName(path, NOW)}.gz`)).toString(), '0 days');
    });
  });

  describe('freeRotatedName()', () => {
    it('takes no name that something has', async () => {
      writeFileSync(rotatedName(path, NOW), '');
      writeFileSync(`${rotatedName(path, NOW + 1)}.gz`, '');
      assert.equal(await freeRotatedName(path, NOW), rotatedName(path, NOW + 2));
    });
  });
});
