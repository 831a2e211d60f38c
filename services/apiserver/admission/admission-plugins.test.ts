import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FlagError, parseFlags } from '../../machinery/flags/flags.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { createMetrics } from '../metrics/metrics.js';
import { ADMISSION_FLAGS, ADMISSION_PLUGIN_NAMES } from '../options/admission.js';
import { AUTHORIZATION_FLAGS } from '../options/authorization.js';
import {
  ADMISSION_PLUGINS,
  checkAdmissionPlugins,
  openAdmission,
  runs,
  type AdmissionDeps,
  type AdmissionEntry,
} from './admission-plugins.js';
import type { AdmissionOperation, AdmissionRequest } from './plugin.js';

const FLAGS = { ...ADMISSION_FLAGS, ...AUTHORIZATION_FLAGS };
const optionsOf = (...argv: readonly string[]): Parameters<typeof runs>[0] => parseFlags(FLAGS, argv).options;

describe('ADMISSION_PLUGINS', () => {
  for (const [argv, lifecycle, restriction] of [
    [[], true, true],
    [['--authorization-mode=RBAC'], true, false],
    [['--authorization-mode=RBAC', '--enable-admission-plugins=NodeRestriction'], true, true],
    [['--disable-admission-plugins=NodeRestriction'], true, false],
    [['--disable-admission-plugins=ServiceAccount,NamespaceLifecycle'], false, true],
    [['--enable-admission-plugins=NamespaceLifecycle', '--disable-admission-plugins=NamespaceLifecycle'], false, true],
  ] as const) {
    it(`runs by ${argv.join(' ') || 'the defaults'}`, () => {
      const running = ADMISSION_PLUGINS.filter((entry) => runs(optionsOf(...argv), entry)).map(({ name }) => name);
      assert.deepEqual(
        [running.includes('NamespaceLifecycle'), running.includes('NodeRestriction')],
        [lifecycle, restriction],
      );
    });
  }

  for (const flag of [
    '--enable-admission-plugins=Nope',
    '--disable-admission-plugins=Nope',
    '--enable-admission-plugins=RBACEscalation',
    '--disable-admission-plugins=RBACEscalation',
  ]) {
    it(`refuses ${flag}`, () => assert.throws(() => checkAdmissionPlugins(optionsOf(flag)), FlagError));
  }

  it('runs what release 1.24 runs, in its order', () => {
    const running = ADMISSION_PLUGINS.filter(
      (entry) => entry.byDefault !== undefined && runs(optionsOf('--authorization-mode=Node,RBAC'), entry),
    );
    assert.deepEqual(
      running.map(({ name }) => name),
      [
        'NamespaceLifecycle',
        'LimitRanger',
        'ServiceAccount',
        'NodeRestriction',
        'TaintNodesByCondition',
        'PodSecurity',
        'Priority',
        'DefaultTolerationSeconds',
        'DefaultStorageClass',
        'StorageObjectInUseProtection',
        'PersistentVolumeClaimResize',
        'RuntimeClass',
        'CertificateApproval',
        'CertificateSigning',
        'CertificateSubjectRestriction',
        'DefaultIngressClass',
        'MutatingAdmissionPolicy', // policies are of later releases
        'MutatingAdmissionWebhook',
        'ValidatingAdmissionPolicy',
        'ValidatingAdmissionWebhook',
        'ResourceQuota',
      ],
    );
  });

  it('lets plugins that are not there be disabled', () => {
    const options = optionsOf('--disable-admission-plugins=LimitRanger,ServiceAccount');
    assert.deepEqual(checkAdmissionPlugins(options), []);
  });

  it('has only names that flags may say, where flags turn a plugin on', () => {
    const known = new Set<string>(ADMISSION_PLUGIN_NAMES);
    const unknown = ADMISSION_PLUGINS.filter(({ name, byDefault }) => byDefault !== undefined && !known.has(name));
    assert.deepEqual(unknown, []);
  });
});

describe('A plugin that is added by one line', () => {
  const seen: string[] = [];
  const fixture: AdmissionEntry = {
    name: 'Fixture',
    byDefault: false,
    deprecated: 'write no fixtures',
    open: (_, { vocabulary }) => ({
      operations: ['CREATE', 'DELETE'],
      resources: ['pods', `roles.${vocabulary.groups.rbac}`],
      mutate: ({ resource }) => void seen.push(`mutate ${resource.resource}`),
      validate: ({ resource }) => void seen.push(`validate ${resource.resource}`),
    }),
  };
  const enabled = optionsOf('--enable-admission-plugins=Fixture', '--disable-admission-plugins=NamespaceLifecycle');
  const metrics = createMetrics().admission;
  const deps = { metrics, vocabulary: { groups: { rbac: 'rbac' } } } as AdmissionDeps; // all that the fixture looks at
  const request = (group: string, resource: string, operation: AdmissionOperation = 'CREATE'): AdmissionRequest =>
    ({ operation, resource: { group, resource } as ResourceDeclaration }) as AdmissionRequest;

  beforeEach(() => void seen.splice(0));

  it('is known to the flags, with a warning when it is deprecated', () => {
    const table = [...ADMISSION_PLUGINS, fixture];
    assert.deepEqual(checkAdmissionPlugins(enabled, table), [
      '--enable-admission-plugins: Fixture is deprecated: write no fixtures',
    ]);
    assert.throws(() => checkAdmissionPlugins(optionsOf('--enable-admission-plugins=Fixtur'), table), /Fixture/);
  });

  it('sees what it handles, and nothing else', async () => {
    const chain = await openAdmission(enabled, deps, [fixture]);
    for (const one of [
      request('', 'pods'),
      request('rbac', 'roles', 'DELETE'),
      request('', 'pods', 'UPDATE'),
      request('', 'roles'),
      request('rbac', 'pods'),
    ]) {
      await chain.mutate(one);
      await chain.validate(one);
    }
    assert.deepEqual(seen, ['mutate pods', 'validate pods', 'mutate roles', 'validate roles']);
  });

  it('is told what the configuration file says to it, and nothing that it does not ask for', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'admission-')), 'admission.yaml');
    const head = 'apiVersion: apiserver.config.platform.io/v1\nkind: AdmissionConfiguration\nplugins:\n';
    writeFileSync(file, `${head}- name: Fixture\n  configuration: {a: 1}\n`);
    const options = { ...enabled, admissionControlConfigFile: file };
    const told: unknown[] = [];
    const asking: AdmissionEntry = {
      ...fixture,
      open: (_, { configuration }) => {
        told.push(configuration.get('Fixture')?.value);
        return undefined;
      },
    };
    const words = { ...deps, vocabulary: vocabulary('platform') };
    await openAdmission(options, words, [asking]);
    assert.deepEqual(told, [{ a: 1 }]);
    await openAdmission({ ...optionsOf(), admissionControlConfigFile: file }, words, [fixture]);
    await assert.rejects(openAdmission(options, words, [fixture]), /line 5: .*: Fixture takes no configuration$/);
    rmSync(dirname(file), { recursive: true });
  });

  it('does nothing where it is not enabled', async () => {
    const chain = await openAdmission(optionsOf(), deps, [fixture]);
    await chain.validate(request('', 'pods'));
    assert.deepEqual(seen, []);
  });
});
