import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { readTracingConfiguration, type TracingConfiguration } from './tracing-configuration.js';

describe('readTracingConfiguration()', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tracing-'));
  const file = join(directory, 'tracing.yaml');
  after(() => rmSync(directory, { recursive: true }));
  const read = (members: string, version = 'v1beta1', words: 'platform' | 'kubernetes' = 'kubernetes') => {
    const group = words === 'platform' ? 'apiserver.config.platform.io' : 'apiserver.config.k8s.io';
    writeFileSync(file, `apiVersion: ${group}/${version}\nkind: TracingConfiguration\n${members}`);
    return readTracingConfiguration(file, vocabulary(words));
  };

  for (const version of ['v1alpha1', 'v1beta1']) {
    it(`reads ${version} in both vocabularies, with defaults`, async () => {
      const none: TracingConfiguration = { endpoint: 'localhost:4317', samplingRatePerMillion: 0 };
      assert.deepEqual(await read('', version), none);
      assert.deepEqual(await read('endpoint: "[::1]:4317"\nsamplingRatePerMillion: 5', version, 'platform'), {
        endpoint: '[::1]:4317',
        samplingRatePerMillion: 5,
      });
    });
  }

  for (const [what, members, message] of [
    [
      'a rate beyond all',
      'samplingRatePerMillion: 1000001',
      /samplingRatePerMillion: must be an integer from 0 to 1000000/,
    ],
    ['a rate below none', 'samplingRatePerMillion: -1', /must be an integer/],
    ['no port', 'endpoint: collector', /endpoint: must be HOST:PORT/],
    ['a path', 'endpoint: http://a:1/b', /endpoint: must be HOST:PORT/],
    ['an unknown member', 'sampling: 1', /sampling: is unknown/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(read(members), (err: Error) => message.test(err.message) && err.message.includes(file));
    });
  }

  it('refuses another type', async () => assert.rejects(read('', 'v1'), /apiVersion/));
});
