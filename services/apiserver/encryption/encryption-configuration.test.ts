import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { readEncryptionConfiguration, type EncryptionRule } from './encryption-configuration.js';
import { covers, resourceEntry } from './resource-rules.js';

const [K16, K24, K32] = [16, 24, 32].map((size) => Buffer.alloc(size, 7).toString('base64'));
const HEAD = 'apiVersion: apiserver.config.platform.io/v1\nkind: EncryptionConfiguration\n';

describe('readEncryptionConfiguration()', () => {
  let directory: string;
  let file: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'encryption-'));
    file = join(directory, 'c.yaml');
  });
  after(() => rmSync(directory, { recursive: true }));

  const read = (text: string, words: 'platform' | 'kubernetes' = 'platform'): Promise<readonly EncryptionRule[]> => {
    writeFileSync(file, text);
    return readEncryptionConfiguration(file, vocabulary(words));
  };
  /** Of `resources: [...]`, in JSON. */
  const rules = (...items: readonly string[]): string => `${HEAD}resources: [${items.join(', ')}]\n`;
  const rule = (providers: string, resources = 'secrets'): string =>
    `{resources: [${resources}], providers: [${providers}]}`;
  const KMS = 'apiVersion: v2, name: a, endpoint: "unix:///run/kms.sock"';

  it('reads every provider, in the words of the installation', async () => {
    const text = rules(
      rule(`{aescbc: {keys: [{name: a, secret: ${K16}}, {name: b, secret: ${K24}}]}}, {identity: {}}`),
      rule(
        `{aesgcm: {keys: [{name: a, secret: ${K32}}]}}, {secretbox: {keys: [{name: a, secret: ${K32}}]}}`,
        '"*.apps"',
      ),
      rule(`{kms: {${KMS}, timeout: 1s500ms}}, {kms: {apiVersion: v2, name: b, endpoint: "unix:///@b"}}`, '"*.*"'),
    );
    const key = (name: string, size: number): object => ({ name, secret: Buffer.alloc(size, 7) });
    const expected = [
      {
        providers: [{ kind: 'aescbc', keys: [key('a', 16), key('b', 24)] }, { kind: 'identity' }],
        resources: [{ group: '', resource: 'secrets' }],
      },
      {
        providers: [
          { kind: 'aesgcm', keys: [key('a', 32)] },
          { kind: 'secretbox', keys: [key('a', 32)] },
        ],
        resources: [{ group: 'apps', resource: '*' }],
      },
      {
        providers: [
          { kind: 'kms', name: 'a', endpoint: 'unix:///run/kms.sock', timeoutMs: 1500 },
          { kind: 'kms', name: 'b', endpoint: 'unix:///@b', timeoutMs: 3000 },
        ],
        resources: [{ group: '*', resource: '*' }],
      },
    ];
    assert.deepEqual(await read(text), expected);
    assert.deepEqual(
      await read(
        text.replace('platform', 'k8s').replace('apiserver.config.k8s.io', 'apiserver.config.k8s.io'),
        'kubernetes',
      ),
      expected,
    );
  });

  const box = (secret: string): string => rule(`{secretbox: {keys: [{name: a, secret: ${secret}}]}}`);
  const REFUSED: readonly (readonly [what: string, text: string, why: RegExp])[] = [
    [
      'another kind',
      `${HEAD.replace('Encryption', 'Admission')}resources: []`,
      /kind: must be "EncryptionConfiguration"$/,
    ],
    [
      'another version',
      `${HEAD.replace('/v1', '/v2')}resources: []`,
      /apiVersion: must be "apiserver.config.platform.io\/v1"$/,
    ],
    ['no rule', rules(), /resources: at least one is required$/],
    ['no resource', rules(rule('{identity: {}}', '')), /resources\[0\]\.resources: at least one is required$/],
    ['no provider', rules(rule('')), /resources\[0\]\.providers: at least one is required$/],
    ['an empty provider', rules(rule('{}')), /resources\[0\]\.providers\[0\]: must be one of aescbc, /],
    ['two in one', rules(rule('{identity: {}, kms: {' + KMS + '}}')), /providers\[0\]: must be one of /],
    ['an unknown provider', rules(rule('{rot13: {}}')), /providers\[0\]\.rot13: is unknown$/],
    [
      'an unknown member of a rule',
      rules('{resources: [secrets], provider: []}'),
      /resources\[0\]\.provider: is unknown$/,
    ],
    ['an unknown member of a key', rules(rule('{aescbc: {keys: [{name: a, key: x}]}}')), /keys\[0\]\.key: is unknown$/],
    ['identity with members', rules(rule('{identity: {keys: []}}')), /identity\.keys: is unknown$/],
    ['no keys', rules(rule('{aescbc: {}}')), /aescbc\.keys: at least one is required$/],
    ['a key without a name', rules(rule(`{aesgcm: {keys: [{secret: ${K32}}]}}`)), /keys\[0\]\.name: is required$/],
    ['a key without a secret', rules(rule('{aesgcm: {keys: [{name: a}]}}')), /keys\[0\]\.secret: is required$/],
    [
      'a name with a colon',
      rules(rule(`{aesgcm: {keys: [{name: "a:b", secret: ${K32}}]}}`)),
      /name: must not have a colon$/,
    ],
    [
      'a name that is there twice',
      rules(rule(`{aesgcm: {keys: [{name: a, secret: ${K32}}, {name: a, secret: ${K16}}]}}`)),
      /aesgcm\.keys\[1\]\.name: "a" is there twice$/,
    ],
    ['a secret that is no base64', rules(box('"s3cr*t!!"')), /keys\[0\]\.secret: must be base64$/],
    ['a secret that is a number', rules(box('12345')), /keys\[0\]\.secret: must be a string$/],
    [
      'a short secret',
      rules(rule('{aescbc: {keys: [{name: a, secret: czNjcnQ=}]}}')),
      /must be a key of 16 or 24 or 32 bytes, and has 5$/,
    ],
    ['a secret of another size', rules(box(K24 ?? '')), /must be a key of 32 bytes, and has 24$/],
    [
      'version 1 of a service',
      rules(rule('{kms: {name: a, endpoint: "unix:///a"}}')),
      /kms\.apiVersion: must be v2: version 1 /,
    ],
    [
      'a service without a name',
      rules(rule('{kms: {apiVersion: v2, endpoint: "unix:///a"}}')),
      /kms\.name: is required$/,
    ],
    [
      'an endpoint that is no socket',
      rules(rule('{kms: {apiVersion: v2, name: a, endpoint: "http://x"}}')),
      /kms\.endpoint: must be unix:/,
    ],
    [
      'an endpoint without a path',
      rules(rule('{kms: {apiVersion: v2, name: a, endpoint: "unix:///"}}')),
      /kms\.endpoint: must be unix:/,
    ],
    ['a time-out of nothing', rules(rule(`{kms: {${KMS}, timeout: 0s}}`)), /kms\.timeout: must be a duration/],
    ['a time-out below', rules(rule(`{kms: {${KMS}, timeout: -1s}}`)), /kms\.timeout: must be a duration/],
    ['a time-out that is too long', rules(rule(`{kms: {${KMS}, timeout: 61s}}`)), /kms\.timeout: must be a duration/],
    ['a cache size', rules(rule(`{kms: {${KMS}, cachesize: 5}}`)), /kms\.cachesize: does not go with v2$/],
    [
      'two services of one name',
      rules(rule(`{kms: {${KMS}}}`), rule(`{kms: {${KMS}}}`, 'pods')),
      /resources\[1\]\.providers\[0\]\.kms\.name: "a" is there twice$/,
    ],
    [
      'a resource that is there twice',
      rules(rule('{identity: {}}', 'secrets, secrets')),
      /resources\[1\]: "secrets" is never used/,
    ],
    [
      'a resource of an earlier rule',
      rules(rule('{identity: {}}', '"*."'), rule('{identity: {}}')),
      /resources\[1\]\.resources\[0\]: "secrets" is never used/,
    ],
    [
      'all beside one',
      rules(rule('{identity: {}}', 'secrets, "*.*"')),
      /resources\[1\]: "\*\.\*" names more than an entry beside it$/,
    ],
    [
      'a resource that cannot be',
      rules(rule('{identity: {}}', '"*"')),
      /resources\[0\]\.resources\[0\]: "\*" leaves open which group/,
    ],
  ];
  for (const [what, text, why] of REFUSED) {
    it(`refuses ${what}, with the place of it`, async () => {
      await assert.rejects(read(text), (err: Error) => {
        assert.match(err.message, why);
        assert.match(err.message, /^\S+c\.yaml: line \d+: /);
        for (const part of ['s3cr', 'czNj', '12345', K16, K24, K32]) assert.ok(!err.message.includes(part ?? ''));
        return true;
      });
    });
  }

  it('tells nothing of a file that cannot be parsed but the line', async () => {
    for (const bad of ['secret: "s3cr3t', 'secret: *s3cr3t', 'secret: s3cr3t: x', '\ts3cr3t', 's3cr3t: 1\ns3cr3t: 2']) {
      await assert.rejects(read(`${HEAD}${bad}\n`), (err: Error) => {
        assert.ok(!err.message.includes('s3cr3t'), err.message);
        assert.match(err.message, /c\.yaml(: line \d+)?: /);
        return true;
      });
    }
  });

  it('takes a secret in several lines', async () => {
    const text = `${HEAD}resources:\n- resources: [secrets]\n  providers:\n  - secretbox:\n      keys:\n      - name: a\n        secret: |\n`;
    const half = (K32 ?? '').slice(0, 20);
    const [only] = await read(`${text}          ${half}\n          ${(K32 ?? '').slice(20)}\n`);
    assert.deepEqual(only?.providers, [{ kind: 'secretbox', keys: [{ name: 'a', secret: Buffer.alloc(32, 7) }] }]);
  });

  it('takes a wider rule behind a narrower one', async () => {
    const text = rules(rule('{identity: {}}'), rule('{identity: {}}', '"*."'), rule('{identity: {}}', '"*.*"'));
    assert.equal((await read(text)).length, 3);
  });
});

describe('resourceEntry()', () => {
  for (const [text, expected] of [
    ['secrets', { resource: 'secrets', group: '' }],
    ['secrets.', { resource: 'secrets', group: '' }],
    ['deployments.apps', { resource: 'deployments', group: 'apps' }],
    ['leases.coordination.platform.io', { resource: 'leases', group: 'coordination.platform.io' }],
    ['*.', { resource: '*', group: '' }],
    ['*.apps', { resource: '*', group: 'apps' }],
    ['*.*', { resource: '*', group: '*' }],
    ['Secrets', /capital letters/],
    ['pods/status', /sub-resource/],
    ['*', /leaves open/],
    ['secrets.*', /stands for a part/],
    ['*.ap*', /stands for a part/],
    ['sec*', /no resource/],
    ['ingresses.extensions', /extensions/],
    ['events.events.platform.io', /use events/],
  ] as const) {
    it(`${expected instanceof RegExp ? 'refuses' : 'reads'} ${text}`, () => {
      const entry = resourceEntry(text, 'events.platform.io');
      if (expected instanceof RegExp) assert.match(typeof entry === 'string' ? entry : '', expected);
      else assert.deepEqual(entry, expected);
    });
  }
});

describe('covers()', () => {
  const [secrets, core, apps, all] = [
    { resource: 'secrets', group: '' },
    { resource: '*', group: '' },
    { resource: '*', group: 'apps' },
    { resource: '*', group: '*' },
  ];
  it('knows what is within what', () => {
    const entries = [secrets, core, apps, all];
    assert.deepEqual(
      entries.map((a) => entries.map((b) => covers(a, b))),
      [
        [true, false, false, false],
        [true, true, false, false],
        [false, false, true, false],
        [true, true, true, true],
      ],
    );
  });
});
