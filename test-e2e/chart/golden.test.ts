import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';

import { wantedBy, type Wanted } from '../../services/certificates/wanted.js';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { runProgram } from '../support/program.js';
import { CHART, CI_VALUES, lint, manifests, needsHelm, podsOf, ROOT, template, type Manifest, type PodSpec } from './helm.js'; // prettier-ignore

const GOLDEN = join(ROOT, 'test-e2e/chart/golden');
/** Set: the files are written anew, for a person to read what became different. */
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
const IMAGE = /platform(?:[:@]|$)/;

/** The value of a flag, in a list of arguments. */
const valueOf = (args: readonly string[] | undefined, flag: string): string | undefined =>
  args?.find((it) => it.startsWith(`--${flag}=`))?.slice(flag.length + 3);

/** What is in files of their own is not told twice. */
const withoutFiles = (text: string): string =>
  text
    .split(/^---\n/m)
    .filter((it) => !/^# Source: \S+\/monitoring\/(?:prometheusrule|dashboard)\.yaml$/m.test(it))
    .join('---\n');

describe('the rendered chart', function () {
  this.timeout(120_000);
  const rendered = new Map<string, string>();
  before(function () {
    needsHelm(this);
    for (const [name, values] of CI_VALUES) {
      const { code, stdout, stderr } = template([`--values=${values}`]);
      assert.equal(code, 0, `${name}: ${stderr}`);
      rendered.set(name, stdout);
    }
  });
  const objects = (name: string): readonly Manifest[] => manifests(rendered.get(name) ?? assert.fail(name));
  const pods = (name: string): ReturnType<typeof podsOf> => podsOf(objects(name));
  const pod = (name: string, of: string): PodSpec =>
    pods(name).find(([it]) => it === of)?.[1] ?? assert.fail(`${name} has no ${of}`);

  for (const name of CI_VALUES.keys()) {
    describe(`with the values of ${name}`, () => {
      it('passes the lint', () => {
        const { code, stdout } = lint([`--values=${CI_VALUES.get(name) ?? ''}`]);
        assert.equal(code, 0, stdout);
      });

      it('is what it was', () => {
        const file = join(GOLDEN, `${name}.yaml`);
        const text = withoutFiles(rendered.get(name) ?? '');
        if (UPDATE) writeFileSync(file, text);
        assert.ok(existsSync(file), `UPDATE_GOLDEN=1 writes ${file}`);
        assert.equal(text, readFileSync(file, 'utf8'), 'UPDATE_GOLDEN=1 takes it as it is');
      });

      it('names each object once', () => {
        const names = objects(name).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
        assert.deepEqual(
          names.filter((it, i) => names.indexOf(it) !== i),
          [],
        );
      });

      it('runs nothing with more rights than it needs', () => {
        for (const [of, { securityContext, containers }] of pods(name)) {
          assert.equal(securityContext['runAsNonRoot'], true, of);
          assert.deepEqual(securityContext['seccompProfile'], { type: 'RuntimeDefault' }, of);
          for (const { securityContext: own } of containers) {
            const wanted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }; // prettier-ignore
            assert.deepEqual(own, wanted, of);
          }
        }
      });

      it('gives a token of the cluster to nobody but who makes certificates', () => {
        const accounts = new Map(objects(name).filter(({ kind }) => kind === 'ServiceAccount').map((it) => [it.metadata.name, it])); // prettier-ignore
        for (const [of, { serviceAccountName, automountServiceAccountToken }] of pods(name)) {
          assert.ok(accounts.has(serviceAccountName), `${of}: ${serviceAccountName}`);
          assert.equal(automountServiceAccountToken === false, !serviceAccountName.includes('certificates'), of);
        }
      });

      it('mounts what flags name, and nothing that is not there', () => {
        const maps = objects(name).filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name); // prettier-ignore
        for (const [of, { containers, volumes = [] }] of pods(name)) {
          const [container] = containers;
          const paths = container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
          for (const arg of container?.args ?? []) {
            const file = /=(\/etc\/\S+)$/.exec(arg)?.[1];
            assert.ok(file === undefined || paths.some((it) => file.startsWith(`${it}/`)), `${of}: ${arg}`);
          }
          for (const { configMap } of volumes) assert.ok(configMap === undefined || maps.includes(configMap.name), of);
        }
      });

      it('gives a server as long to stop as it takes', () => {
        const [, spec] = pods(name).find(([of]) => /^Deployment .*-apiserver$/.test(of)) ?? assert.fail('no server');
        const args = spec.containers[0]?.args;
        const seconds = ['shutdown-delay-duration', 'shutdown-drain-duration'].map((it) => parseInt(valueOf(args, it) ?? '')); // prettier-ignore
        const needed = seconds.reduce((a, b) => a + b);
        assert.ok((spec.terminationGracePeriodSeconds ?? 0) >= needed + 5, `${needed} s are needed`);
      });
    });
  }

  it('gives processes flags that they know', async () => {
    const known = new Map<string, string>();
    for (const name of CI_VALUES.keys()) {
      for (const [of, { containers }] of pods(name)) {
        const [container] = containers;
        if (container === undefined || !IMAGE.test(container.image)) continue;
        const { args = [] } = container;
        const command = args.slice(0, args[0] === 'certificates' ? 2 : 1);
        const key = command.join(' ');
        const help = known.get(key) ?? (await runProgram([...command, '--help'])).stdout;
        known.set(key, help);
        for (const arg of args.slice(command.length)) {
          const [flag = ''] = arg.split('=');
          assert.ok(help.includes(`  ${flag} `) || help.includes(`  ${flag}\n`), `${of}: ${flag}`);
        }
      }
    }
  });

  /** What our own tool makes for these values. */
  const wantedFor = (name: 'trial' | 'cert-manager'): Wanted => {
    const job = pods('trial').find(([of]) => of.startsWith('Job '))?.[1].containers[0]?.args;
    const [servers, etcd] = ['hosts', 'etcd-hosts'].map((it) => (valueOf(job, it) ?? '').split(',')) as [string[], string[]]; // prettier-ignore
    const more = name === 'cert-manager' ? ['api.example.com', '192.0.2.10', '2001:db8::10'] : [];
    return wantedBy(vocabulary('kubernetes'), { servers: [...servers, ...more], etcd });
  };
  const secretsFor = ({ authorities, keys, leaves }: Wanted): readonly string[] =>
    [...authorities, ...keys, ...leaves.map((it) => it.name)].map((it) => `r-platform-${it}`).sort();

  for (const name of ['trial', 'cert-manager'] as const)
    it(`mounts keys and certificates that are made, with the values of ${name}`, () => {
      const made = secretsFor(wantedFor(name));
      for (const [of, { volumes = [] }] of pods(name)) {
        for (const { secret } of volumes) assert.ok(secret === undefined || made.includes(secret.secretName), of);
      }
    });

  it('lets the job write the secrets that it makes, and no others', () => {
    const roles = objects('trial').filter(({ kind }) => kind === 'Role') as unknown as RoleObject[];
    assert.equal(roles.length, 2); // of the hook, and of the CronJob
    for (const { rules } of roles) {
      const verbs = rules.map((it) => it.verbs);
      assert.deepEqual(verbs, [['create'], ['get', 'update']]);
      assert.deepEqual(rules[1]?.resourceNames, secretsFor(wantedFor('trial')));
    }
  });

  it('lets cert-manager make what our own tool makes', () => {
    const setOf = (name: string): string => name.slice('r-platform-'.length);
    const certificates = objects('cert-manager')
      .filter(({ kind }) => kind === 'Certificate')
      .map(({ spec }) => spec as unknown as CertificateSpec);
    const { authorities, keys, leaves } = wantedFor('cert-manager');
    const told = certificates
      .filter(({ isCA, secretName }) => isCA !== true && !keys.includes(setOf(secretName)))
      .map((it) => ({
        name: setOf(it.secretName),
        authority: setOf(it.issuerRef.name),
        commonName: it.commonName,
        organization: it.subject?.organizations[0],
        hosts: [...(it.dnsNames ?? []), ...(it.ipAddresses ?? [])].sort(),
        usages: it.usages,
      }));
    const expected = leaves.map(({ name, authority, commonName, organization, hosts, usage }) => ({
      name,
      authority,
      commonName,
      organization,
      hosts: [...hosts].sort(),
      usages: ['digital signature', ...USAGES[usage]],
    }));
    const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
    assert.deepEqual(told.sort(byName), expected.sort(byName));
    const signing = certificates.filter(({ isCA }) => isCA).map(({ secretName }) => setOf(secretName));
    assert.deepEqual(signing.sort(), [...authorities].sort());
    assert.ok(certificates.every(({ ipAddresses = [] }) => ipAddresses.every((it) => isIP(it) !== 0)));
  });

  it('takes the secrets that it is told to', () => {
    const { volumes = [] } = pod('existing', 'Deployment r-control-plane-apiserver');
    assert.deepEqual(volumes.flatMap(({ secret }) => secret?.secretName ?? []).sort(), ['encryption', 'r-control-plane-front-proxy-client', 'r-control-plane-service-account', 'serving']); // prettier-ignore
  });

  it('has alerts and a dashboard where it has the files for them', () => {
    const all = objects('cert-manager');
    const rule = all.find(({ kind }) => kind === 'PrometheusRule');
    const dashboard = all.find(({ metadata }) => metadata.name === 'r-platform-dashboard');
    const file = (name: string): string | undefined =>
      existsSync(join(CHART, name)) ? readFileSync(join(CHART, name), 'utf8') : undefined;
    const [alerts, panels] = [file('files/alerts.yaml'), file('files/dashboard.json')];
    assert.deepEqual(rule?.spec, alerts === undefined ? undefined : parse(alerts));
    const shown = dashboard?.data?.['platform.json'];
    assert.deepEqual(shown && JSON.parse(shown), panels && JSON.parse(panels));
  });

  for (const [what, args, why] of [
    ['no etcd', [], /etcd.endpoints is needed/],
    ['two sorts of etcd', ['--set=etcd.trial.enabled=true', '--set=etcd.endpoints={http://a:2379}'], /exclude each/],
    ['an etcd without credentials', ['--set=etcd.endpoints={https://a:2379}'], /etcd.secretName is needed/],
    ['a value that there is not', ['--set=apiserver.replica=3'], /replica/],
    ['no servers', ['--set=apiserver.replicas=0'], /replicas/],
    ['a vocabulary that nobody speaks', ['--set=vocabulary=klingon'], /vocabulary/],
    ['an argument that is no flag', ['--set=apiserver.extraArgs={rm}'], /extraArgs/],
    ['an upside down range', ['--set=etcd.trial.enabled=true', '--set=apiserver.autoscaling.enabled=true', '--set=apiserver.autoscaling.maxReplicas=2'], /maxReplicas/], // prettier-ignore
    ['names for secrets that it makes itself', ['--set=etcd.trial.enabled=true', '--set=certificates.secretNames.ca=x'], /secretNames/], // prettier-ignore
  ] as const)
    it(`refuses ${what}`, () => {
      const { code, stderr } = template(args);
      assert.notEqual(code, 0);
      assert.match(stderr, why);
    });
});

const USAGES = {
  serverAuth: ['server auth'],
  clientAuth: ['client auth'],
  peer: ['server auth', 'client auth'],
} as const;

interface RoleObject {
  readonly rules: readonly { readonly verbs: readonly string[]; readonly resourceNames?: readonly string[] }[];
}

interface CertificateSpec {
  readonly secretName: string;
  readonly commonName: string;
  readonly isCA?: boolean;
  readonly subject?: { readonly organizations: readonly string[] };
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages: readonly string[];
  readonly issuerRef: { readonly name: string };
}
