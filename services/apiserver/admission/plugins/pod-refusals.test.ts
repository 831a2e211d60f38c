import assert from 'node:assert/strict';
import { ask, pod, PODS, type Outcome } from '../testing/pods.js';
import { ObjectsThere } from '../testing/there.js';
import { alwaysPullImages } from './always-pull-images.js';
import { denyEscalatingExec, denyExecOnPrivileged } from './deny-exec.js';
import { securityContextDeny } from './security-context-deny.js';

const forbids = (why: string): string => `pods "p" is forbidden: ${why}`;

describe('alwaysPullImages', () => {
  const policies = ({ spec }: Outcome): unknown =>
    ['initContainers', 'containers'].flatMap((list) =>
      ((spec[list] ?? []) as { imagePullPolicy?: string }[]).map(({ imagePullPolicy }) => imagePullPolicy),
    );
  const asked = (image = 'i'): ReturnType<typeof pod> =>
    pod({ initContainers: [{ name: 'i', image: 'j', imagePullPolicy: 'Never' }], containers: [{ name: 'c', image }] });

  it('has all images of new pods pulled', async () => {
    const outcome = await ask(alwaysPullImages, asked());
    assert.deepEqual([outcome.why, policies(outcome)], ['', ['Always', 'Always']]);
  });

  it('has those of an update pulled that brings an image, and leaves other updates alone', async () => {
    const said = { operation: 'UPDATE', oldObject: asked() } as const;
    assert.deepEqual(policies(await ask(alwaysPullImages, asked('new'), said)), ['Always', 'Always']);
    assert.deepEqual(policies(await ask(alwaysPullImages, asked('j'), said)), ['Never', undefined]);
    assert.deepEqual(policies(await ask(alwaysPullImages, asked(), said)), ['Never', undefined]);
    assert.deepEqual(policies(await ask(alwaysPullImages, asked(), { subresource: 'eviction' })), ['Never', undefined]);
  });

  it('refuses what others have made of it', async () => {
    const { why } = await ask({ ...alwaysPullImages, mutate: () => undefined }, asked());
    const shown = (path: string, value: string): string =>
      `spec.${path}[0].imagePullPolicy: Unsupported value: "${value}": supported values: "Always"`;
    assert.equal(why, forbids(`[${shown('initContainers', 'Never')}, ${shown('containers', '')}]`));
  });
});

describe('securityContextDeny', () => {
  const ofPod = (context: object): object => ({ securityContext: context });
  const ofContainer = (context: object, list = 'containers'): object => ({ [list]: [{ securityContext: context }] });
  for (const [spec, why] of [
    [ofPod({ supplementalGroups: [] }), 'pod.Spec.SecurityContext.SupplementalGroups is forbidden'],
    [ofPod({ seLinuxOptions: {} }), 'pod.Spec.SecurityContext.SELinuxOptions is forbidden'],
    [ofPod({ runAsUser: 0 }), 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
    [ofPod({ fsGroup: 1 }), 'pod.Spec.SecurityContext.FSGroup is forbidden'],
    [ofPod({ fsGroup: 1, runAsUser: 1 }), 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
    [ofContainer({ seLinuxOptions: {}, runAsUser: 1 }), 'SecurityContext.SELinuxOptions is forbidden'],
    [ofContainer({ runAsUser: 1 }), 'SecurityContext.RunAsUser is forbidden'],
    [ofContainer({ runAsUser: 1 }, 'initContainers'), 'SecurityContext.RunAsUser is forbidden'],
    [ofPod({ runAsGroup: 1, runAsNonRoot: true }), ''],
    [ofContainer({ privileged: true }), ''],
    [{}, ''],
  ] as const) {
    it(`says ${why === '' ? 'nothing' : why} of ${JSON.stringify(spec)}`, async () => {
      const expected = why === '' ? '' : forbids(why);
      assert.equal((await ask(securityContextDeny, pod(spec))).why, expected);
      assert.equal((await ask(securityContextDeny, pod(spec), { operation: 'UPDATE' })).why, expected);
      assert.equal((await ask(securityContextDeny, pod(spec), { subresource: 'status' })).why, '');
    });
  }
});

describe('denyEscalatingExec() and denyExecOnPrivileged()', () => {
  const session = (plugin: typeof denyExecOnPrivileged, spec: object, subresource = 'exec'): Promise<Outcome> =>
    ask(plugin({ objects: new ObjectsThere().put(PODS, pod(spec)) }), { kind: 'PodExecOptions', apiVersion: 'v1', metadata: {} }, { operation: 'CONNECT', namespace: 'ns', name: 'p', subresource }); // prettier-ignore
  const cannot = (what: string): string => forbids(`cannot exec into or attach to a ${what}`);
  const privileged = { securityContext: { privileged: true } };

  for (const [spec, escalating, onPrivileged] of [
    [{ hostPID: true, hostIPC: true }, cannot('container using host pid'), ''],
    [{ hostIPC: true }, cannot('container using host ipc'), ''],
    [{ containers: [{}, privileged] }, cannot('privileged container'), cannot('privileged container')],
    [{ initContainers: [privileged] }, cannot('privileged container'), cannot('privileged container')],
    [{ hostNetwork: true, containers: [{ securityContext: { privileged: false } }] }, '', ''],
  ] as const) {
    it(`decide on ${JSON.stringify(spec)}`, async () => {
      for (const subresource of ['exec', 'attach']) {
        assert.equal((await session(denyEscalatingExec, spec, subresource)).why, escalating);
        assert.equal((await session(denyExecOnPrivileged, spec, subresource)).why, onPrivileged);
      }
      assert.equal((await session(denyEscalatingExec, spec, 'portforward')).why, '');
    });
  }

  it('know no pod that is not there', async () => {
    const plugin = denyEscalatingExec({ objects: new ObjectsThere() });
    const { error } = await ask(plugin, undefined, { operation: 'CONNECT', namespace: 'ns', name: 'p', subresource: 'exec' }); // prettier-ignore
    assert.equal(error?.message, 'pods "p" not found');
  });
});
