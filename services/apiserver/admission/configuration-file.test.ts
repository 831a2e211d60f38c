import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary as words } from '../../machinery/vocabulary/vocabulary.js';
import { readAdmissionConfiguration } from './configuration-file.js';

const PLATFORM = words('platform');
const KUBERNETES = words('kubernetes');
const HEAD = 'apiVersion: apiserver.config.platform.io/v1\nkind: AdmissionConfiguration\n';

describe('readAdmissionConfiguration()', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'admission-'))));
  after(() => rmSync(directory, { recursive: true }));

  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const read = (text: string, vocabulary = PLATFORM): ReturnType<typeof readAdmissionConfiguration> =>
    readAdmissionConfiguration(write('admission.yaml', text), vocabulary, ['One', 'Two']);

  it('has nothing without a file', async () => {
    assert.deepEqual(await readAdmissionConfiguration('', PLATFORM, ['One']), { documents: new Map() });
  });

  it('gives each plugin what is said to it, in the file or in another one', async () => {
    const file = write('two.yaml', 'b:\n- 2\n');
    const { documents, deprecated } = await read(
      `${HEAD}plugins:\n- name: One\n  configuration:\n    a: 1\n- {name: Two, path: two.yaml}\n`,
    );
    assert.deepEqual(
      [...documents].map(([name, document]) => [name, document.value, document.file]),
      [
        ['One', { a: 1 }, join(directory, 'admission.yaml')],
        ['Two', { b: [2] }, file],
      ],
    );
    assert.equal(deprecated, undefined);
    const inline = documents.get('One')?.error(['a'], 'is wrong').message;
    assert.equal(inline, `${join(directory, 'admission.yaml')}: line 6: plugins[0].configuration.a: is wrong`);
    assert.equal(documents.get('Two')?.error(['b', 0], 'is wrong').message, `${file}: line 2: b[0]: is wrong`);
  });

  it('takes JSON, absolute paths, and entries that say nothing', async () => {
    const file = write('two.json', '{"b": 2}');
    const { documents } = await read(
      JSON.stringify({
        apiVersion: 'apiserver.config.platform.io/v1',
        kind: 'AdmissionConfiguration',
        plugins: [{ name: 'One' }, { name: 'Two', path: file }],
      }),
    );
    assert.deepEqual([...documents.keys()], ['Two']);
    assert.deepEqual(documents.get('Two')?.value, { b: 2 });
  });

  for (const [apiVersion, vocabulary] of [
    ['apiserver.platform.io/v1alpha1', PLATFORM],
    ['apiserver.config.platform.io/v1alpha1', PLATFORM],
    ['apiserver.k8s.io/v1alpha1', KUBERNETES],
  ] as const) {
    it(`says what to use instead of ${apiVersion}`, async () => {
      const { deprecated } = await read(`apiVersion: ${apiVersion}\nkind: AdmissionConfiguration`, vocabulary);
      assert.deepEqual(deprecated, { apiVersion, use: `${vocabulary.groups.apiserverConfig}/v1` });
    });
  }

  for (const [text, why] of [
    ['kind: AdmissionConfiguration', 'line 1: apiVersion: is required'],
    [
      'apiVersion: v1\nkind: AdmissionConfiguration',
      'line 1: apiVersion: must be "apiserver.config.platform.io/v1" or "apiserver.config.platform.io/v1alpha1" or "apiserver.platform.io/v1alpha1"',
    ],
    [HEAD.replace('AdmissionC', 'C') + 'x: 1', 'line 2: kind: must be "AdmissionConfiguration"'],
    [`${HEAD}\n\nplugns: []`, 'line 5: plugns: is unknown'],
    [`${HEAD}plugins: {}`, 'line 3: plugins: must be a list'],
    [`${HEAD}plugins:\n- name: One\n  pth: x`, 'line 5: plugins[0].pth: is unknown'],
    [`${HEAD}plugins:\n- path: x`, 'line 4: plugins[0].name: is required'],
    [`${HEAD}plugins:\n- name: One\n- name: 2`, 'line 5: plugins[1].name: must be a string'],
    [`${HEAD}plugins:\n- name: Three`, 'line 4: plugins[0].name: there is no plugin "Three"'],
    [`${HEAD}plugins:\n- name: One\n- name: One`, 'line 5: plugins[1].name: "One" is there twice'],
    [
      `${HEAD}plugins:\n- name: One\n  path: x\n  configuration: {}`,
      'line 5: plugins[0].path: goes not together with configuration',
    ],
    [`${HEAD}plugins: []\nplugins: []`, 'line 4: yaml parse error: key "plugins" already set in map'],
    ['a: b: c', /^line 1: yaml parse error: /],
    ['[]', 'line 1: apiVersion: is required'],
    ['', 'line 1: apiVersion: is required'],
    [`${'['.repeat(200)}${']'.repeat(200)}`, /^.*depth.*$/],
  ] as const) {
    it(`refuses ${JSON.stringify(text.slice(0, 120))}`, async () => {
      await assert.rejects(read(text), ({ message }: Error) => {
        const prefix = `${join(directory, 'admission.yaml')}: `;
        assert.ok(message.startsWith(prefix), message);
        const said = message.slice(prefix.length);
        if (typeof why === 'string') assert.equal(said, why);
        else assert.match(said, why);
        assert.doesNotMatch(said, /\n/);
        return true;
      });
    });
  }

  it('names the file that cannot be used', async () => {
    await assert.rejects(readAdmissionConfiguration(join(directory, 'nope'), PLATFORM, []), /nope: does not exist$/);
    const gone = `${HEAD}plugins:\n- {name: One, path: gone.yaml}`;
    await assert.rejects(read(gone), /gone\.yaml: does not exist$/);
    write('bad.yaml', 'a: 1\nb: [\n');
    await assert.rejects(read(`${HEAD}plugins:\n- {name: One, path: bad.yaml}`), /bad\.yaml: line 3: yaml parse error/);
    write('long.yaml', `a: ${'x'.repeat(1024 * 1024)}`);
    await assert.rejects(read(`${HEAD}plugins:\n- {name: One, path: long.yaml}`), /longer than/);
  });
});
