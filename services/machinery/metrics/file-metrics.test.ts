import assert from 'node:assert/strict';
import * as prom from 'prom-client';
import { noteFiles } from '../files/unusable-files.js';
import { issueAuthority, newKey } from '../pki/issue.js';
import { registerFileMetrics } from './file-metrics.js';

describe('registerFileMetrics()', () => {
  it('shows when the first certificate of each file ends, and leaves out what cannot be read', async () => {
    const key = await newKey();
    const made = (year: number): string =>
      issueAuthority({ key, commonName: 'a', previous: undefined }, new Date(`${year}-01-01T00:00:00Z`));
    const registry = new prom.Registry();
    const sources = { both: made(2030) + made(2020), one: made(2030), none: 'no PEM', absent: undefined };
    const certificates = new Map(Object.entries(sources).map(([name, pem]) => [name, () => Promise.resolve(pem)]));
    certificates.set('unreadable', () => Promise.reject(new Error('ENOENT')));
    registerFileMetrics(prom, registry, certificates);
    const text = await registry.metrics();
    const ends = new Map([...text.matchAll(/certificate="(\w+)"\} (\S+)/g)].map(([, name, at]) => [name, Number(at)]));
    assert.deepEqual([...ends.keys()], ['both', 'one']);
    const tenYears = (ends.get('one') ?? 0) - (ends.get('both') ?? 0);
    assert.ok(Math.abs(tenYears / (365.25 * 86_400) - 10) < 0.01, String(tenYears));
  });

  it('shows which files could not be used, and that they can again', async () => {
    const registry = new prom.Registry();
    registerFileMetrics(prom, registry, new Map());
    noteFiles('things of a test', true);
    assert.match(await registry.metrics(), /files_unusable\{what="things of a test"\} 1/);
    noteFiles('things of a test', false);
    assert.match(await registry.metrics(), /files_unusable\{what="things of a test"\} 0/);
  });
});
