import assert from 'node:assert/strict';
import { withKubectl } from './kubectl.js';

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly labels?: Record<string, string> } }[];
}
interface ConfigMap {
  readonly metadata: { readonly resourceVersion: string; readonly labels?: Record<string, string> };
  readonly data: Record<string, string>;
}

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "i:1", ports: [{containerPort: 80}]}]}
`;
const POD = `
apiVersion: v1
kind: Pod
metadata: {name: lone}
spec: {containers: [{name: c, image: i}]}
`;
const configMap = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { a: '1' },
});
const role = (group: string): string => `
apiVersion: ${group}/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`;

const SERVERS = [
  ['platform', 'embedded'],
  ['kubernetes', 'embedded'],
  ['kubernetes', 'etcd'],
] as const;

for (const [vocabulary, store] of SERVERS) {
  withKubectl('reads and writes', { vocabulary, store }, (client) => {
    it('lists the first namespaces', async () => {
      const names = (await client().ok(['get', 'ns', '-o', 'name'])).trim().split('\n');
      const word = vocabulary === 'platform' ? 'platform' : 'kube';
      assert.deepEqual(
        names,
        ['default', `${word}-node-lease`, `${word}-public`, `${word}-system`].map((n) => `namespace/${n}`).sort(),
      );
    });

    it('knows the resources', async () => {
      const text = await client().ok(['api-resources']);
      const group = vocabulary === 'platform' ? 'rbac.authorization.platform.io' : 'rbac.authorization.k8s.io';
      for (const line of [
        /^configmaps +cm +v1 +true +ConfigMap/m,
        /^deployments +deploy +apps\/v1 +true +Deployment/m,
      ]) {
        assert.match(text, line);
      }
      assert.match(text, new RegExp(`^roles +${group}/v1 +true +Role`, 'm'));
    });

    it('creates objects from files, with validation on', async () => {
      const group = vocabulary === 'platform' ? 'rbac.authorization.platform.io' : 'rbac.authorization.k8s.io';
      for (const file of [DEPLOYMENT, POD, role(group)])
        assert.match(await client().ok(['create', '-f', '-'], file), / created/);
      assert.match(
        await client().ok(['get', 'deploy,pods,roles', '-o', 'name']),
        /deployment.apps\/web\npod\/lone\nrole.rbac.*\/reader/,
      );
      assert.match(
        (await client().run(['create', '-f', '-'], POD)).stderr,
        /AlreadyExists.*pods "lone" already exists/,
      );
    });

    it('creates what a List holds', async () => {
      const list = { apiVersion: 'v1', kind: 'List', items: [configMap('first'), configMap('second')] };
      assert.equal(
        await client().ok(['create', '-f', '-'], JSON.stringify(list)),
        'configmap/first created\nconfigmap/second created\n',
      );
    });

    it('does not create what the schemas do not know', async () => {
      const unknown = POD.replace('image: i', 'image: i, imagee: i').replace('lone', 'unknown');
      assert.match((await client().run(['create', '-f', '-'], unknown)).stderr, /unknown field "(\S+\.)?imagee"/);
      const wrong = DEPLOYMENT.replace('replicas: 2', 'replicas: two').replace('web', 'wrong');
      assert.match((await client().run(['create', '-f', '-'], wrong)).stderr, /replicas.*(integer|int32)/);
      assert.match(
        (await client().run(['get', 'pod/unknown', 'deploy/wrong'])).stderr,
        /unknown.*\n.*wrong.* not found/,
      );
    });

    it('explains', async () => {
      const ports = await client().ok(['explain', 'pod.spec.containers.ports']);
      assert.match(ports, /^ *containerPort\t<integer> -required-$/m);
      assert.match(ports, /^ *hostIP\t<string>/m);
      assert.match(
        await client().ok(['explain', 'deployments', '--recursive']),
        /^ *maxSurge\t<(string|IntOrString)>$/m,
      );
    });

    it('creates, shows, changes and deletes a ConfigMap', async () => {
      await client().ok(['create', 'configmap', 'one', '--from-literal=a=1']);
      assert.match(await client().ok(['get', 'cm', 'one', '-o', 'yaml']), /^data:\n {2}a: "1"$/m);
      const before = await client().json<ConfigMap>(['get', 'cm', 'one']);
      await client().ok(['patch', 'cm', 'one', '--type=merge', '-p', '{"data":{"b":"2"}}']);
      await client().ok(['patch', 'cm', 'one', '--type=json', '-p', '[{"op":"remove","path":"/data/a"}]']);
      await client().ok(['label', 'cm', 'one', 'color=red']);
      const after = await client().json<ConfigMap>(['get', 'cm', 'one']);
      assert.deepEqual([after.data, after.metadata.labels], [{ b: '2' }, { color: 'red' }]);
      const stale = await client().run(['replace', '-f', '-'], JSON.stringify(before));
      assert.match(stale.stderr, /Conflict.*the object has been modified/);
      await client().ok(['replace', '-f', '-'], JSON.stringify({ ...after, data: { c: '3' } }));
      assert.deepEqual((await client().json<ConfigMap>(['get', 'cm', 'one'])).data, { c: '3' });
      assert.match(await client().ok(['delete', 'cm', 'one']), /configmap "one" deleted/);
      assert.match((await client().run(['get', 'cm', 'one'])).stderr, /NotFound.*configmaps "one" not found/);
    });

    it('selects by labels and fields, in chunks', async () => {
      const objects = Array.from({ length: 7 }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `many-${i}`, labels: { many: 'yes', odd: String(i % 2) } },
      }));
      await client().ok(['create', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
      const names = async (...args: string[]): Promise<string[]> =>
        (await client().json<Listed>(['get', 'cm', ...args])).items.map((i) => i.metadata.name);
      assert.equal((await names('-l', 'many=yes', '--chunk-size=2')).length, 7);
      assert.deepEqual(await names('-l', 'many,odd in (1)'), ['many-1', 'many-3', 'many-5']);
      assert.deepEqual(await names('--field-selector=metadata.name=many-4'), ['many-4']);
      await client().ok(['delete', 'cm', '-l', 'many']);
      assert.deepEqual(await names('-l', 'many'), []);
    });

    it('watches', async () => {
      const watching = client().follow(['get', 'cm', '--watch', '--output-watch-events', '-o', 'name']);
      try {
        await client().ok(['create', 'configmap', 'seen', '--from-literal=a=1']);
        await watching.line(/configmap\/seen/);
        await client().ok(['delete', 'cm', 'seen']);
      } finally {
        watching.stop();
      }
    });

    it('creates a namespace and fills it', async () => {
      await client().ok(['create', 'namespace', 'team']);
      await client().ok(['-n', 'team', 'create', 'configmap', 'inside', '--from-literal=a=1']);
      assert.match(await client().ok(['get', 'cm', '-A']), /^team +inside/m);
      assert.match(
        (await client().run(['-n', 'nowhere', 'create', 'configmap', 'x'])).stderr,
        /namespaces "nowhere" not found/,
      );
    });

    if (vocabulary === 'kubernetes') {
      it('creates by its typed commands', async () => {
        await client().ok(['create', 'deployment', 'typed', '--image=i:1']);
        await client().ok(['create', 'role', 'typed', '--verb=get', '--resource=pods']);
        assert.match(
          await client().ok(['get', 'deploy/typed', 'role/typed', '-o', 'name']),
          /deployment.apps\/typed\nrole.*\/typed/,
        );
      });
    }
  });
}
