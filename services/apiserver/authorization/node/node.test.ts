import assert from 'node:assert/strict';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { CachedObject } from '../../cache/cached-object.js';
import { Change } from '../../cache/history.js';
import type { UserInfo } from '../../request/request.js';
import { bootstrapPolicy } from '../rbac/bootstrap-policy.js';
import { rulesOf } from '../../../machinery/rbac/policy-rule.js';
import type { Authorizer, ResourceAttributes } from '../authorizer.js';
import { nodeAuthorizer } from './node-authorizer.js';
import { NodeGraph } from './graph.js';

const words = vocabulary('platform');
const MIRROR = words.annotations.mirrorPod;
const agent = (node: string, ...groups: string[]): UserInfo => ({
  name: `system:node:${node}`,
  uid: '',
  groups: ['system:nodes', ...groups],
  extra: {},
});

/** `get secrets a/s`, `get leases.coordination.platform.io platform-node-lease/n`, `create nodes/status -/n` */
function asked(line: string): ResourceAttributes {
  const [verb = '', what = '', place = '/'] = line.split(' ');
  const [typed = '', subresource = ''] = what.split('/');
  const dot = typed.indexOf('.');
  const [namespace = '', name = ''] = place.split('/');
  return {
    kind: 'resource',
    verb,
    group: dot < 0 ? '' : typed.slice(dot + 1),
    version: 'v1',
    resource: dot < 0 ? typed : typed.slice(0, dot),
    subresource,
    namespace: namespace === '-' ? '' : namespace,
    name,
  };
}

interface Scene {
  readonly authorizer: Authorizer;
  pod(name: string, node: string, spec?: object, annotations?: Record<string, string>): void;
  volume(name: string, spec: object): void;
  attachment(name: string, node: string): void;
  gone(kind: 'pods' | 'volumes' | 'attachments', key: string): void;
  may(user: UserInfo, line: string): Promise<boolean>;
}

function scene(): Scene {
  const graph = new NodeGraph(MIRROR);
  const followers = graph.followers();
  const present = new Map<string, CachedObject>();
  const rules = (): ReturnType<typeof rulesOf> =>
    rulesOf(bootstrapPolicy(words).find(({ object }) => object.metadata.name === 'system:node')?.object);
  const authorizer = nodeAuthorizer({ graph, vocabulary: words, rules });
  const put = (kind: keyof typeof followers, namespace: string, name: string, object: object): void => {
    const key = `${kind}/${namespace}/${name}`;
    const layout = { prefixLength: 0, itemStart: 0, selectableFields: [] };
    const cached = new CachedObject(key, namespace, name, 1, Buffer.from(JSON.stringify(object)), layout);
    followers[kind].changed(new Change(cached, present.get(key), false, 0));
    present.set(key, cached);
  };
  return {
    authorizer,
    pod: (name, node, spec = {}, annotations = {}) =>
      put('pods', 'a', name, { metadata: { name, namespace: 'a', annotations }, spec: { ...spec, nodeName: node } }),
    volume: (name, spec) => put('volumes', '', name, { metadata: { name }, spec }),
    attachment: (name, node) => put('attachments', '', name, { spec: { nodeName: node } }),
    gone: (kind, key) => {
      const object = present.get(key);
      assert.ok(object !== undefined);
      followers[kind].changed(new Change(object, object, true, 0));
      present.delete(key);
    },
    may: async (user, line) => (await authorizer.authorize(user, asked(line))).decision === 'allow',
  };
}

/** Everything by which a pod can name a secret, a config map, a claim or an account. */
const FULL = {
  serviceAccountName: 'robot',
  imagePullSecrets: [{ name: 'pull' }],
  initContainers: [{ envFrom: [{ secretRef: { name: 'init-env' } }, { configMapRef: { name: 'init-config' } }] }],
  containers: [
    { env: [{ valueFrom: { secretKeyRef: { name: 'key' } } }, { valueFrom: { configMapKeyRef: { name: 'config-key' } } }, { value: 'v' }] }, // prettier-ignore
  ],
  ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'ephemeral-env' } }] }],
  volumes: [
    { name: 's', secret: { secretName: 'mounted' } },
    { name: 'c', configMap: { name: 'config' } },
    {
      name: 'p',
      projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'config-projected' } }] },
    },
    { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'e', ephemeral: { volumeClaimTemplate: {} } },
    { name: 'x', csi: { nodePublishSecretRef: { name: 'csi' } } },
    { name: 'f', cephfs: { secretRef: { name: 'ceph' } } },
    { name: 'z', azureFile: { secretName: 'azure' } },
  ],
};
const SECRETS = ['pull', 'init-env', 'key', 'ephemeral-env', 'mounted', 'projected', 'csi', 'ceph', 'azure'];
const CONFIG = ['init-config', 'config-key', 'config', 'config-projected'];

describe('nodeAuthorizer()', () => {
  it('has no opinion about users who are no agents', async () => {
    const s = scene();
    s.pod('p', 'n', FULL);
    for (const user of [
      { ...agent('n'), groups: [] },
      { ...agent('n'), groups: ['system:node'] },
      { ...agent('n'), name: 'n' },
      { ...agent('n'), name: 'system:node' },
      { ...agent('n'), name: 'System:node:n' },
      agent(''),
      agent('N'),
      agent('other'),
      agent('ո'), // an Armenian letter
    ]) {
      assert.equal(await s.may(user, 'get secrets a/mounted'), false, user.name);
    }
    assert.equal(await s.may({ ...agent('n'), groups: [] }, 'get services a/x'), false);
  });

  const refused = [
    'get secrets a/other',
    'get secrets b/mounted',
    'get secrets /mounted',
    'list secrets a/',
    'list secrets /',
    'watch secrets a/',
    'create secrets a/mounted',
    'update secrets a/mounted',
    'delete secrets a/mounted',
    'deletecollection secrets a/',
    'get secrets/status a/mounted',
    'get configmaps a/mounted',
    'update configmaps a/config',
    'list persistentvolumeclaims a/data',
    'update persistentvolumeclaims a/data',
    'update persistentvolumeclaims/status a/other',
    'get persistentvolumeclaims/status a/data',
    'get persistentvolumes -/other',
    'list persistentvolumes -/',
    'get volumeattachments.storage.platform.io -/other',
    'create serviceaccounts/token a/other',
    'create serviceaccounts a/robot',
    'get serviceaccounts a/robot',
    'get leases.coordination.platform.io platform-node-lease/m',
    'get leases.coordination.platform.io a/n',
    'list leases.coordination.platform.io platform-node-lease/',
    'update csinodes.storage.platform.io -/m',
    'update csinodes.storage.platform.io/status -/n',
    'list csinodes.storage.platform.io -/',
    'delete nodes -/n',
    'create pods/exec a/p',
    'get nodes/proxy -/n',
    'create deployments.apps a/x',
    'escalate clusterroles.rbac.authorization.platform.io -/x',
    'impersonate users -/admin',
  ];
  const allowed = [
    ...SECRETS.map((name) => `get secrets a/${name}`),
    ...CONFIG.map((name) => `get configmaps a/${name}`),
    'list secrets a/mounted',
    'watch configmaps a/config',
    'get persistentvolumeclaims a/data',
    'get persistentvolumeclaims a/p-e',
    'patch persistentvolumeclaims/status a/data',
    'get persistentvolumes -/pv',
    'get secrets b/stage',
    'get secrets a/publish',
    'get volumeattachments.storage.platform.io -/va',
    'create serviceaccounts/token a/robot',
    'create leases.coordination.platform.io platform-node-lease/',
    'update leases.coordination.platform.io platform-node-lease/n',
    'create csinodes.storage.platform.io -/',
    'patch csinodes.storage.platform.io -/n',
    'get services a/x',
    'list pods /',
    'update pods/status a/p',
    'update nodes/status -/n',
    'create events a/',
    'create subjectaccessreviews.authorization.platform.io -/',
    'create certificatesigningrequests.certificates.platform.io -/',
  ];

  const full = (): Scene => {
    const s = scene();
    s.pod('p', 'n', FULL);
    s.pod('m', 'm', { volumes: [{ secret: { secretName: 'of-m' } }] });
    s.volume('pv', {
      claimRef: { namespace: 'a', name: 'data' },
      csi: {
        nodeStageSecretRef: { namespace: 'b', name: 'stage' },
        nodePublishSecretRef: { name: 'publish' },
        controllerPublishSecretRef: { namespace: 'b', name: 'controller' },
      },
    });
    s.volume('other', { claimRef: { namespace: 'a', name: 'claimed-elsewhere' } });
    s.attachment('va', 'n');
    s.attachment('other', 'm');
    return s;
  };

  for (const line of [...refused, 'get secrets b/controller', 'get secrets a/of-m']) {
    it(`refuses ${line}`, async () => assert.equal(await full().may(agent('n'), line), false));
  }
  for (const line of allowed) {
    it(`allows ${line}`, async () => assert.equal(await full().may(agent('n'), line), true));
  }

  it('forgets what a pod needed when the last one that needed it is gone', async () => {
    const s = full();
    s.pod('p2', 'n', { volumes: [{ secret: { secretName: 'mounted' } }] });
    s.gone('pods', 'pods/a/p');
    assert.equal(await s.may(agent('n'), 'get secrets a/mounted'), true);
    assert.equal(await s.may(agent('n'), 'get secrets a/pull'), false);
    assert.equal(await s.may(agent('n'), 'get secrets b/stage'), false, 'nobody claims the volume any more');
    s.gone('pods', 'pods/a/p2');
    assert.equal(await s.may(agent('n'), 'get secrets a/mounted'), false);
    assert.equal(await s.may(agent('m'), 'get secrets a/of-m'), true);
  });

  it('follows volumes and attachments', async () => {
    const s = full();
    assert.equal(await s.may(agent('n'), 'get persistentvolumes -/pv'), true);
    s.volume('pv', { claimRef: { namespace: 'a', name: 'claimed-elsewhere' } });
    s.attachment('va', 'm');
    assert.equal(await s.may(agent('n'), 'get persistentvolumes -/pv'), false);
    assert.equal(await s.may(agent('n'), 'get volumeattachments.storage.platform.io -/va'), false);
    assert.equal(await s.may(agent('m'), 'get volumeattachments.storage.platform.io -/va'), true);
    s.gone('attachments', 'attachments//va');
    assert.equal(await s.may(agent('m'), 'get volumeattachments.storage.platform.io -/va'), false);
  });

  it('gives nothing for a pod that a node says to run by itself, nor for one that runs nowhere', async () => {
    const s = scene();
    s.pod('mirror', 'n', FULL, { [MIRROR]: 'x' });
    s.pod('waiting', '', FULL);
    for (const line of ['get secrets a/mounted', 'create serviceaccounts/token a/robot']) {
      assert.equal(await s.may(agent('n'), line), false);
    }
    s.pod('waiting', 'n', FULL);
    assert.equal(await s.may(agent('n'), 'get secrets a/mounted'), true);
  });

  it('is not led astray by pods of another shape', async () => {
    const s = scene();
    s.pod('odd', 'n', {
      volumes: { secret: { secretName: 'x' } },
      containers: [null, 'c', { env: 7 }, { env: [{ valueFrom: [] }] }],
      imagePullSecrets: [{ name: ['x'] }, { name: '' }, {}],
      serviceAccountName: { name: 'x' },
    });
    for (const name of ['x', '', 'c']) assert.equal(await s.may(agent('n'), `get secrets a/${name}`), false);
  });

  it('says why it has no opinion', async () => {
    const answer = await full().authorizer.authorize(agent('n'), asked('get secrets a/other'));
    assert.deepEqual(answer, {
      decision: 'noOpinion',
      reason: 'no relationship found between node "n" and this object',
    });
  });
});
