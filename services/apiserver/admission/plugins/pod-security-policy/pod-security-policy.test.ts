import assert from 'node:assert/strict';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionRequest } from '../../plugin.js';
import { ask, pod, type Outcome } from '../../testing/pods.js';
import { ObjectsThere } from '../../testing/there.js';
import { podSecurityPolicy } from './plugin.js';

const POLICIES = { group: 'policy', resource: 'podsecuritypolicies' };
const PSP = 'platform.io/psp';
const SECCOMP = 'seccomp.security.alpha.platform.io/pod';

const ANY = { rule: 'RunAsAny' };
const LAX = { volumes: ['*'], runAsUser: ANY, seLinux: ANY, supplementalGroups: ANY, fsGroup: ANY };
const OPEN = { ...LAX, privileged: true, allowedCapabilities: ['*'], hostNetwork: true, hostPorts: [{ min: 0, max: 65535 }] }; // prettier-ignore
const TIGHT = {
  allowPrivilegeEscalation: false,
  volumes: ['emptyDir', 'hostPath', 'secret', 'flexVolume', 'csi'],
  allowedHostPaths: [{ pathPrefix: '/ok', readOnly: true }],
  allowedFlexVolumes: [{ driver: 'a/b' }],
  allowedCSIDrivers: [{ name: 'csi.a' }],
  hostPorts: [{ min: 10, max: 20 }, { min: 30, max: 30 }],
  readOnlyRootFilesystem: true,
  requiredDropCapabilities: ['KILL'],
  allowedCapabilities: ['CHOWN'],
  defaultAddCapabilities: ['SETUID'],
  runAsUser: { rule: 'MustRunAs', ranges: [{ min: 5, max: 9 }, { min: 20, max: 30 }] },
  runAsGroup: { rule: 'MustRunAs', ranges: [{ min: 3, max: 4 }] },
  seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0', role: 'r', type: 't', user: 'u' } },
  supplementalGroups: { rule: 'MustRunAs', ranges: [{ min: 7, max: 8 }] },
  fsGroup: { rule: 'MustRunAs', ranges: [{ min: 1, max: 2 }] },
  forbiddenSysctls: ['kernel.shm_rmid_forced'],
  allowedUnsafeSysctls: ['a.*'],
  runtimeClass: { allowedRuntimeClassNames: ['x'] },
}; // prettier-ignore
const NON_ROOT = { ...LAX, runAsUser: { rule: 'MustRunAsNonRoot' } };

type Specs = Readonly<Record<string, object>>;

interface Scene {
  /** Names of the policies that a user may use. Default: all. */
  readonly may?: (user: string, policy: string) => boolean;
  readonly annotations?: Readonly<Record<string, string>>;
}

function admit(
  specs: Specs,
  object: ApiObject,
  said: Partial<AdmissionRequest> = {},
  scene: Scene = {},
): Promise<Outcome> {
  const { may = () => true, annotations = {} } = scene;
  const objects = new ObjectsThere();
  for (const [name, spec] of Object.entries(specs)) {
    objects.put(POLICIES, { metadata: { name, annotations: { ...annotations } }, spec });
  }
  const plugin = podSecurityPolicy({
    vocabulary: vocabulary('platform'),
    objects,
    decide: (user, attributes) => {
      assert.ok(attributes.kind === 'resource');
      const { verb, group, resource, namespace, name } = attributes;
      assert.deepEqual([verb, group, resource, namespace], ['use', 'policy', 'podsecuritypolicies', 'ns']);
      return { decision: may(user.name, name) ? 'allow' : 'noOpinion', reason: '' };
    },
  });
  return ask(plugin, object, { namespace: 'ns', ...said });
}

const forbids = (...problems: readonly string[]): string =>
  `pods "p" is forbidden: PodSecurityPolicy: unable to admit pod: [${problems.join(' ')}]`;
const container = (securityContext: object = {}, more: object = {}): object => ({
  containers: [{ name: 'c', image: 'i', securityContext, ...more }],
});
const context = (securityContext: object): object => ({ securityContext });
const volume = (source: object, ...mounts: readonly object[]): object => ({
  volumes: [{ name: 'v', ...source }],
  containers: [{ name: 'c', volumeMounts: mounts }],
});
const C = 'spec.containers[0].securityContext';
const USER_RANGES = 'must be in the ranges: [{5 9} {20 30}]';
const token = { projected: { sources: [{ serviceAccountToken: {} }, { configMap: {} }] } };

describe('podSecurityPolicy()', () => {
  it('gives a pod what a policy wants of it', async () => {
    const { why, spec, request } = await admit({ tight: TIGHT }, pod());
    assert.equal(why, '');
    assert.deepEqual(request.object?.metadata.annotations, { [PSP]: 'tight' });
    assert.deepEqual(spec, {
      securityContext: {
        supplementalGroups: [7],
        fsGroup: 1,
        seLinuxOptions: { level: 's0', role: 'r', type: 't', user: 'u' },
      },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            runAsUser: 5,
            runAsGroup: 3,
            capabilities: { add: ['SETUID'], drop: ['KILL'] },
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
          },
        },
      ],
    });
  });

  for (const [what, spec, expected] of [
    ['a user that is allowed', container({ runAsUser: 25 }), { runAsUser: 25 }],
    ['the user of the pod', context({ runAsUser: 6 }), { runAsUser: undefined }],
    [
      'capabilities',
      container({ capabilities: { add: ['CHOWN'], drop: ['AUDIT_WRITE'] } }),
      { capabilities: { add: ['CHOWN', 'SETUID'], drop: ['AUDIT_WRITE', 'KILL'] } },
    ],
    [
      'a capability that the pod has dropped',
      container({ capabilities: { drop: ['SETUID'] } }),
      { capabilities: { drop: ['KILL', 'SETUID'] } },
    ],
  ] as const) {
    // prettier-ignore
    it(`keeps ${what}`, async () => {
      const { why, spec: after } = await admit({ tight: TIGHT }, pod(structuredClone(spec)));
      assert.equal(why, '');
      const given = (after['containers'] as { securityContext: Record<string, unknown> }[])[0]?.securityContext;
      for (const [member, value] of Object.entries(expected)) assert.deepEqual(given?.[member], value);
    });
  }

  for (const [spec, ...problems] of [
    [
      { hostNetwork: true, hostPID: true, hostIPC: true },
      ...['hostNetwork', 'hostPID', 'hostIPC'].map(
        (one) =>
          `spec.securityContext.${one}: Invalid value: true: Host ${one.slice(4).replace('Network', 'network')} is not allowed to be used`,
      ),
    ],
    [container({ privileged: true }), `${C}.privileged: Invalid value: true: Privileged containers are not allowed`],
    [volume({ nfs: {} }), 'spec.volumes[0]: Invalid value: "nfs": nfs volumes are not allowed to be used'],
    [volume({ cephfs: {} }), 'spec.volumes[0]: Invalid value: "cephFS": cephFS volumes are not allowed to be used'],
    [
      volume({ projected: { sources: [{ secret: {} }, { serviceAccountToken: {} }] } }),
      'spec.volumes[0]: Invalid value: "projected": projected volumes are not allowed to be used',
    ],
    [
      volume({ hostPath: { path: '/okay' } }),
      'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/okay": is not allowed to be used',
    ],
    [
      volume({ hostPath: { path: '/ok/x' } }, { name: 'w' }, { name: 'v' }),
      'spec.containers[0].volumeMounts[1].readOnly: Invalid value: false: must be read-only',
    ],
    [
      volume({ flexVolume: { driver: 'c/d' } }),
      'spec.volumes[0].driver: Invalid value: "c/d": Flexvolume driver is not allowed to be used',
    ],
    [
      volume({ csi: { driver: 'csi.b' } }),
      'spec.volumes[0].csi.driver: Invalid value: "csi.b": Inline CSI driver is not allowed to be used',
    ],
    [
      container({}, { ports: [{ hostPort: 80 }, { hostPort: 15 }, { containerPort: 1 }] }),
      'spec.containers[0].hostPort: Invalid value: 80: Host port 80 is not allowed to be used. Allowed ports: [10-20,30]',
    ],
    [
      container({ readOnlyRootFilesystem: false }),
      `${C}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`,
    ],
    [
      container({ capabilities: { add: ['NET_ADMIN'] } }),
      `${C}.capabilities.add: Invalid value: "NET_ADMIN": capability may not be added`,
    ],
    [
      container({ allowPrivilegeEscalation: true }),
      `${C}.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed`,
    ],
    [container({ runAsUser: 1 }), `${C}.runAsUser: Invalid value: 1: ${USER_RANGES}`],
    [context({ runAsUser: 10 }), `${C}.runAsUser: Invalid value: 10: ${USER_RANGES}`],
    [container({ runAsGroup: 9 }), `${C}: Invalid value: []int64{9}: group 9 must be in the ranges: [{3 4}]`],
    [
      container({ seLinuxOptions: { level: 's0', role: 'b', type: 't' } }),
      `${C}.seLinuxOptions.role: Invalid value: "b": must be r`,
      `${C}.seLinuxOptions.user: Invalid value: "": must be u`,
    ],
    [
      context({ supplementalGroups: [7, 1] }),
      'spec.securityContext.supplementalGroups: Invalid value: []int64{7, 1}: group 1 must be in the ranges: [{7 8}]',
    ],
    [
      context({ fsGroup: 9 }),
      'spec.securityContext.fsGroup: Invalid value: []int64{9}: group 9 must be in the ranges: [{1 2}]',
    ],
    [
      context({
        sysctls: [
          { name: 'kernel.shm_rmid_forced' },
          { name: 'net.core.somaxconn' },
          { name: 'a.b' },
          { name: 'net.ipv4.tcp_syncookies' },
        ],
      }),
      'pod.spec.securityContext.sysctls[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed',
      'pod.spec.securityContext.sysctls[1]: Forbidden: unsafe sysctl "net.core.somaxconn" is not allowed',
    ],
    [{ runtimeClassName: 'y' }, 'spec.runtimeClassName: Invalid value: "y"'],
    [container({ procMount: 'Unmasked' }), `${C}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`],
  ] as const) {
    // prettier-ignore
    it(`refuses ${JSON.stringify(spec)}`, async () => {
      const { error } = await admit({ tight: TIGHT }, pod(structuredClone(spec)));
      assert.equal(error?.message, forbids(...problems));
      assert.deepEqual([error.code, error.details], [403, { name: 'p', kind: 'pods' }]);
    });
  }

  for (const spec of [
    volume({ hostPath: { path: '/ok/' } }, { name: 'v', readOnly: true }),
    volume({ flexVolume: { driver: 'a/b' } }),
    volume({ csi: { driver: 'csi.a' } }),
    volume(token),
    container({}, { ports: [{ hostPort: 10 }, { hostPort: 30 }] }),
    { runtimeClassName: 'x' },
  ]) {
    it(`allows ${JSON.stringify(spec)}`, async () =>
      assert.equal((await admit({ tight: TIGHT }, pod(structuredClone(spec)))).why, ''));
  }

  it('allows the volume of a token along with secrets alone', async () => {
    const { why } = await admit({ one: { ...LAX, volumes: ['emptyDir'] } }, pod(volume(token)));
    assert.equal(
      why,
      forbids('spec.volumes[0]: Invalid value: "projected": projected volumes are not allowed to be used'),
    );
  });

  describe('with MustRunAsNonRoot', () => {
    it('has containers say so, unless they name a user', async () => {
      const contexts = async (spec: object): Promise<unknown> =>
        ((await admit({ one: NON_ROOT }, pod(spec))).spec['containers'] as { securityContext?: object }[])[0]?.securityContext; // prettier-ignore
      assert.deepEqual(await contexts({}), { runAsNonRoot: true });
      assert.deepEqual(await contexts(container({ runAsUser: 5 })), { runAsUser: 5 });
    });
    it('refuses the root user', async () => {
      assert.equal((await admit({ one: NON_ROOT }, pod(container({ runAsUser: 0 })))).why, forbids(`${C}.runAsUser: Invalid value: 0: running with the root UID is forbidden`)); // prettier-ignore
      assert.equal((await admit({ one: NON_ROOT }, pod(container({ runAsNonRoot: false })))).why, forbids(`${C}.runAsNonRoot: Invalid value: false: must be true`)); // prettier-ignore
    });
  });

  describe('of several policies', () => {
    const used = async (specs: Specs, spec: object = {}): Promise<unknown> =>
      (await admit(specs, pod(spec))).request.object?.metadata.annotations?.[PSP];

    it('takes the first that changes nothing', async () =>
      assert.equal(await used({ a: TIGHT, b: LAX, c: OPEN }), 'b'));
    it('else the first that allows the pod', async () => {
      assert.equal(await used({ a: TIGHT, b: NON_ROOT }), 'a');
      assert.equal(await used({ a: TIGHT, b: NON_ROOT }, volume({ nfs: {} })), 'b');
    });
    it('tells of all', async () => {
      const why = 'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used';
      assert.equal((await admit({ a: LAX, b: OPEN }, pod({ hostPID: true }))).why, forbids(why, why));
    });
    it('takes only those that the user or the account may use', async () => {
      const may = (user: string, policy: string): boolean => user === 'system:serviceaccount:ns:acc' && policy === 'b';
      const object = pod({ serviceAccountName: 'acc' });
      assert.equal((await admit({ a: LAX, b: OPEN }, object, {}, { may })).request.object?.metadata.annotations?.[PSP], 'b');
      assert.equal((await admit({ a: LAX, b: OPEN }, pod(), {}, { may })).why, forbids());
      const tester = (user: string, policy: string): boolean => user === 'tester' && policy === 'a';
      assert.equal((await admit({ a: LAX, b: OPEN }, pod(), {}, { may: tester })).why, '');
    }); // prettier-ignore
  });

  it('refuses every pod where there is no policy', async () => {
    const why = 'pods "p" is forbidden: PodSecurityPolicy: no providers available to validate pod request';
    assert.equal((await admit({}, pod())).why, why);
  });

  it('looks at profiles', async () => {
    const object = (): ApiObject => pod({}, { annotations: { [SECCOMP]: 'unconfined' } });
    const path = `pod.metadata.annotations[${SECCOMP}]: Forbidden`;
    assert.equal((await admit({ a: LAX }, object())).why, forbids(`${path}: seccomp may not be set`));
    const only = { 'seccomp.security.alpha.platform.io/allowedProfileNames': 'runtime/default,x' };
    const refusedBy = forbids(
      `${path}: unconfined is not an allowed seccomp profile. Valid values are runtime/default,x`,
    );
    assert.equal((await admit({ a: LAX }, object(), {}, { annotations: only })).why, refusedBy);
    const all = { 'seccomp.security.alpha.platform.io/allowedProfileNames': '*' };
    assert.equal((await admit({ a: LAX }, object(), {}, { annotations: all })).why, '');
    const armoured = pod({}, { annotations: { 'container.apparmor.security.beta.platform.io/c': 'y' } });
    assert.equal((await admit({ a: LAX }, armoured)).why, '');
    const armours = { 'apparmor.security.beta.platform.io/allowedProfileNames': 'x' };
    assert.match((await admit({ a: LAX }, armoured, {}, { annotations: armours })).why, /y is not an allowed AppArmor profile\. Valid values are x/); // prettier-ignore
  });

  it('gives profiles to pods that name none', async () => {
    const armour = 'container.apparmor.security.beta.platform.io/c';
    const annotations = {
      'seccomp.security.alpha.platform.io/allowedProfileNames': '*',
      'seccomp.security.alpha.platform.io/defaultProfileName': 'runtime/default',
      'apparmor.security.beta.platform.io/defaultProfileName': 'localhost/x',
    };
    const given = async (object: ApiObject): Promise<unknown> =>
      (await admit({ a: LAX }, object, {}, { annotations })).request.object?.metadata.annotations;
    assert.deepEqual(await given(pod()), { [PSP]: 'a', [SECCOMP]: 'runtime/default', [armour]: 'localhost/x' });
    const own = { [SECCOMP]: 'x', [armour]: 'y' };
    assert.deepEqual(await given(pod({}, { annotations: own })), { ...own, [PSP]: 'a' });
    const profile = context({ seccompProfile: { type: 'Localhost' } });
    assert.deepEqual(await given(pod(profile, { annotations: { [armour]: 'y' } })), { [armour]: 'y', [PSP]: 'a' });
  });

  it('looks at updates of what runs, and changes nothing then', async () => {
    const old = pod(container({ privileged: true }));
    const update = (next: ApiObject, subresource = ''): Promise<Outcome> =>
      admit({ a: NON_ROOT }, next, { operation: 'UPDATE', oldObject: old, subresource });
    assert.equal((await update(pod(container({ privileged: true }), { labels: { a: 'b' } }))).why, '');
    const changed = pod({ ...container({ privileged: true }), activeDeadlineSeconds: 5 });
    assert.match((await update(changed)).why, /Privileged containers/);
    assert.match((await update(changed, 'ephemeralcontainers')).why, /Privileged containers/);
    assert.equal((await update(changed, 'status')).why, '');
    assert.equal((await update(pod(container({ runAsUser: 5 })))).spec['securityContext'], undefined);
  });
});
