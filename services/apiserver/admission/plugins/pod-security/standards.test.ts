import assert from 'node:assert/strict';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { shownViolations, violations, type Level } from './standards.js';
import type { CheckedPod } from './words.js';

const words = vocabulary('platform').profiles;
const HARDENED = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const container = (securityContext: object = {}, more: object = {}, name = 'c'): object => ({
  name,
  securityContext,
  ...more,
});
const hard = (context: object = {}, name = 'c'): object => container({ ...HARDENED, ...context }, {}, name);

const found = (
  level: Level,
  minor: number,
  spec: object,
  annotations: Readonly<Record<string, string>> = {},
): string => {
  const pod = { annotations, spec: { containers: [hard()], ...spec } } as CheckedPod;
  return shownViolations(violations({ level, minor }, pod, words));
};

const withContext = (securityContext: object): object => ({ securityContext });
const having = (...containers: readonly object[]): object => ({ containers });
const ports = (...hostPorts: readonly number[]): object => ({ ports: hostPorts.map((hostPort) => ({ hostPort })) });
const seccomp = (type: string | undefined): object => ({ seccompProfile: type === undefined ? undefined : { type } });

describe('baseline', () => {
  for (const [spec, expected] of [
    [having(container()), ''],
    [{ hostNetwork: true }, 'host namespaces (hostNetwork=true)'],
    [
      { hostNetwork: true, hostPID: true, hostIPC: true },
      'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    ],
    [{ hostNetwork: false }, ''],
    [
      having(container({ privileged: true })),
      'privileged (container "c" must not set securityContext.privileged=true)',
    ],
    [
      {
        initContainers: [container({ privileged: true }, {}, 'i')],
        ...having(container({ privileged: true })),
        ephemeralContainers: [container({ privileged: true }, {}, 'e')],
      },
      'privileged (containers "i", "c", "e" must not set securityContext.privileged=true)',
    ],
    [
      having(
        container({ capabilities: { add: ['NET_ADMIN', 'CHOWN', 'SYS_TIME'] } }),
        container({ capabilities: { add: ['SYS_TIME', 'AAA'] } }, {}, 'd'),
      ),
      'non-default capabilities (containers "c", "d" must not include "AAA", "NET_ADMIN", "SYS_TIME" in securityContext.capabilities.add)',
    ],
    [
      having(
        container({
          capabilities: {
            add: [
              'AUDIT_WRITE',
              'CHOWN',
              'DAC_OVERRIDE',
              'FOWNER',
              'FSETID',
              'KILL',
              'MKNOD',
              'NET_BIND_SERVICE',
              'SETFCAP',
              'SETGID',
              'SETPCAP',
              'SETUID',
              'SYS_CHROOT',
            ],
          },
        }),
      ),
      '',
    ],
    [
      {
        volumes: [
          { name: 'v', hostPath: { path: '/' } },
          { name: 'w', hostPath: { path: '/x' } },
          { name: 'x', nfs: {} },
        ],
      },
      'hostPath volumes (volumes "v", "w")',
    ],
    [{ volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "v")'],
    [having(container({}, ports(80))), 'hostPort (container "c" uses hostPort 80)'],
    [
      having(container({}, ports(80, 9)), container({}, ports(80), 'd'), container({}, ports(0), 'e')),
      'hostPort (containers "c", "d" use hostPorts 80, 9)',
    ],
    [
      having(container({ procMount: 'Unmasked' }), container({ procMount: 'Default' }, {}, 'd')),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      {
        ...withContext({ seLinuxOptions: { type: 'bad', user: 'u' } }),
        ...having(container({ seLinuxOptions: { type: 'bad2', role: 'r' } })),
      },
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: types "bad", "bad2"; user may not be set; role may not be set)',
    ],
    [
      withContext({ seLinuxOptions: { type: 'bad' } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "bad")',
    ],
    [
      having(container({ seLinuxOptions: { user: 'u' } })),
      'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: user may not be set)',
    ],
    [
      {
        ...withContext({ seLinuxOptions: { type: 'container_t' } }),
        ...having(
          container({ seLinuxOptions: { type: 'container_kvm_t', level: 'l' } }),
          container({ seLinuxOptions: { type: 'container_init_t' } }),
        ),
      },
      '',
    ],
    [
      withContext(seccomp('Unconfined')),
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      having(container(seccomp('Unconfined')), container(seccomp('Unconfined'), {}, 'd')),
      'seccompProfile (containers "c", "d" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      { ...withContext(seccomp('Unconfined')), ...having(container(seccomp('Unconfined'))) },
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [withContext(seccomp('Localhost')), ''],
    [
      withContext({
        sysctls: [
          { name: 'a.b' },
          { name: 'kernel.shm_rmid_forced' },
          { name: 'net.ipv4.ip_local_port_range' },
          { name: 'net.ipv4.tcp_syncookies' },
          { name: 'net.ipv4.ping_group_range' },
          { name: 'net.ipv4.ip_unprivileged_port_start' },
          { name: 'c.d' },
        ],
      }),
      'forbidden sysctls (a.b, c.d)',
    ],
    [
      {
        hostNetwork: true,
        ...withContext({ windowsOptions: { hostProcess: true } }),
        ...having(container({ windowsOptions: { hostProcess: true } })),
      },
      'host namespaces (hostNetwork=true), hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    [{ ...withContext({ runAsUser: 0, runAsNonRoot: false }), ...having(container({ runAsUser: 0 })) }, ''],
    [
      {
        hostNetwork: true,
        volumes: [{ name: 'v', hostPath: {} }],
        ...having(container({ privileged: true, capabilities: { add: ['SYS_ADMIN'] } })),
      },
      'non-default capabilities (container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add), host namespaces (hostNetwork=true), hostPath volumes (volume "v"), privileged (container "c" must not set securityContext.privileged=true)',
    ],
  ] as const) {
    // prettier-ignore
    it(`finds ${expected === '' ? 'nothing' : expected} in ${JSON.stringify(spec)}`, () =>
      assert.equal(found('baseline', Infinity, spec), expected));
  }

  it('looks at annotations', () => {
    const prefix = 'container.apparmor.security.beta.platform.io/';
    const one = found('baseline', Infinity, {}, { [`${prefix}c`]: 'unconfined' });
    assert.equal(one, `forbidden AppArmor profile (${prefix}c="unconfined")`);
    const two = found('baseline', Infinity, {}, { [`${prefix}d`]: 'x', [`${prefix}c`]: 'unconfined' });
    assert.equal(two, `forbidden AppArmor profiles (${prefix}c="unconfined", ${prefix}d="x")`);
    const fine = { [`${prefix}c`]: 'runtime/default', [`${prefix}d`]: 'localhost/x', [`${prefix}e`]: '', other: 'unconfined' }; // prettier-ignore
    assert.equal(found('baseline', Infinity, {}, fine), '');
  });

  it('knows profiles as annotations before release 1.19', () => {
    const pod = 'seccomp.security.alpha.platform.io/pod';
    const ofC = 'container.seccomp.security.alpha.platform.io/c';
    const unconfined = { ...withContext(seccomp('Unconfined')), ...having(container(seccomp('Unconfined'))) };
    assert.equal(
      found('baseline', 18, unconfined),
      `seccompProfile (forbidden annotations ${ofC}="unconfined", ${pod}="unconfined")`,
    );
    assert.equal(found('baseline', 18, {}, { [pod]: 'x' }), `seccompProfile (forbidden annotation ${pod}="x")`);
    assert.equal(found('baseline', 18, {}, { [pod]: 'docker/default', [ofC]: 'localhost/x' }), '');
    assert.equal(found('baseline', 18, withContext(seccomp('Localhost'))), '');
    assert.equal(found('baseline', 19, {}, { [pod]: 'x' }), '');
    assert.match(found('baseline', 19, unconfined), /must not set/);
  });
});

describe('restricted', () => {
  const SECCOMP = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  const NON_ROOT = 'must not set securityContext.runAsNonRoot=false';
  for (const [spec, expected] of [
    [{}, ''],
    [
      having(container()),
      `allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" ${SECCOMP})`,
    ],
    [
      {
        ...withContext({ runAsNonRoot: true, ...seccomp('Localhost') }),
        ...having(container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })),
      },
      '',
    ],
    [
      having(hard({ allowPrivilegeEscalation: true }), hard({ allowPrivilegeEscalation: undefined }, 'd')),
      'allowPrivilegeEscalation != false (containers "c", "d" must set securityContext.allowPrivilegeEscalation=false)',
    ],
    [having(hard({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } })), ''],
    [
      having(hard({ capabilities: { drop: ['ALL'], add: ['SYS_TIME'] } })),
      'unrestricted capabilities (container "c" must not include "SYS_TIME" in securityContext.capabilities.add)',
    ],
    [
      having(
        hard({ capabilities: { drop: ['CHOWN'], add: ['CHOWN'] } }),
        hard({ capabilities: { add: ['KILL'] } }, 'd'),
      ),
      'unrestricted capabilities (containers "c", "d" must set securityContext.capabilities.drop=["ALL"]; containers "c", "d" must not include "CHOWN", "KILL" in securityContext.capabilities.add)',
    ],
    [
      {
        volumes: [
          { name: 'v', nfs: {} },
          { name: 'w', emptyDir: {} },
          { name: 'x', gcePersistentDisk: {} },
          { name: 'y', hostPath: {} },
          { name: 'z' },
        ],
      },
      'restricted volume types (volumes "v", "x", "y" use restricted volume types "gcePersistentDisk", "hostPath", "nfs")',
    ],
    [
      {
        volumes: [
          { name: 'v', hostPath: {} },
          { name: 'w', hostPath: {} },
        ],
      },
      'restricted volume types (volumes "v", "w" use restricted volume type "hostPath")',
    ],
    [{ volumes: [{ name: 'v', nfs: {} }] }, 'restricted volume types (volume "v" uses restricted volume type "nfs")'],
    [
      {
        volumes: [
          'configMap',
          'csi',
          'downwardAPI',
          'emptyDir',
          'ephemeral',
          'persistentVolumeClaim',
          'projected',
          'secret',
        ].map((type) => ({ name: 'v', [type]: {} })),
      },
      '',
    ],
    [withContext({ runAsNonRoot: false }), `runAsNonRoot != true (pod ${NON_ROOT})`],
    [
      { ...withContext({ runAsNonRoot: false }), ...having(hard({ runAsNonRoot: undefined })) },
      `runAsNonRoot != true (pod ${NON_ROOT})`,
    ],
    [
      { ...withContext({ runAsNonRoot: true }), ...having(hard({ runAsNonRoot: false })) },
      `runAsNonRoot != true (container "c" ${NON_ROOT})`,
    ],
    [
      having(hard({ runAsNonRoot: false }), hard({ runAsNonRoot: undefined }, 'd')),
      `runAsNonRoot != true (container "c" ${NON_ROOT})`,
    ],
    [
      having(hard(), hard({ runAsNonRoot: undefined }, 'd')),
      'runAsNonRoot != true (pod or container "d" must set securityContext.runAsNonRoot=true)',
    ],
    [
      { ...withContext({ runAsUser: 0 }), ...having(hard({ runAsUser: 0 })) },
      'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
    ],
    [
      having(hard({ runAsUser: 0 }), hard({ runAsUser: 1 }, 'd')),
      'runAsUser=0 (container "c" must not set runAsUser=0)',
    ],
    [
      { ...withContext(seccomp('RuntimeDefault')), ...having(hard(seccomp('Unconfined'))) },
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      { ...withContext(seccomp('Unconfined')), ...having(hard(seccomp(undefined))) },
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [having(hard(seccomp(undefined)), hard({}, 'd')), `seccompProfile (pod or container "c" ${SECCOMP})`],
    [
      { hostNetwork: true, ...having(hard({ privileged: true, runAsUser: 0 })) },
      'host namespaces (hostNetwork=true), privileged (container "c" must not set securityContext.privileged=true), runAsUser=0 (container "c" must not set runAsUser=0)',
    ],
  ] as const) {
    // prettier-ignore
    it(`finds ${expected === '' ? 'nothing' : expected} in ${JSON.stringify(spec)}`, () =>
      assert.equal(found('restricted', Infinity, spec), expected));
  }

  it('has grown from release to release', () => {
    const reasons = (minor: number): string[] => {
      const context = { runAsUser: 0, capabilities: { add: ['SYS_TIME'] }, ...seccomp('Unconfined') };
      const pod = { annotations: {}, spec: { volumes: [{ name: 'v', hostPath: {} }], ...having(container(context)) } };
      return violations({ level: 'restricted', minor }, pod as CheckedPod, words).map(({ reason }) => reason);
    };
    const old = ['non-default capabilities', 'seccompProfile'];
    const rest = ['restricted volume types', 'runAsNonRoot != true'];
    const escalation = 'allowPrivilegeEscalation != false';
    assert.deepEqual(reasons(0), [...old, ...rest]);
    assert.deepEqual(reasons(7), [...old, ...rest]);
    assert.deepEqual(reasons(8), [...old, escalation, ...rest]);
    assert.deepEqual(reasons(19), ['non-default capabilities', escalation, ...rest, 'seccompProfile']);
    assert.deepEqual(reasons(22), [escalation, 'unrestricted capabilities', ...rest, 'seccompProfile']);
    const all = [escalation, 'unrestricted capabilities', ...rest, 'runAsUser=0', 'seccompProfile'];
    for (const minor of [23, 24, 99, Infinity]) assert.deepEqual(reasons(minor), all);
  });
});

describe('privileged', () => {
  it('finds nothing', () => assert.equal(found('privileged', Infinity, { hostPID: true }), ''));
});
