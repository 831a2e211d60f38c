import assert from 'node:assert/strict';
import { startEtcd, type EtcdServer } from '../../services/storage/testing/start-etcd.js';
import { startPlatform, type Running } from '../support/platform.js';
import { Kubectl } from './kubectl.js';

const version = Kubectl.version();

/** A missing kubectl is a failure where everything has to run or one is named, and a skip that is counted elsewhere. */
function skipWithoutKubectl(context: Mocha.Context): void {
  if (version !== undefined) return;
  const { CI = '', KUBECTL = '' } = process.env;
  const why = `No kubectl${KUBECTL === '' ? '' : ` that runs at ${KUBECTL}`}: run deploy/kubectl/get-kubectl.mjs`;
  if (CI !== '' || KUBECTL !== '') throw new Error(why);
  process.stderr.write(`SKIPPED ${context.test?.parent?.fullTitle() ?? ''}. ${why}\n`);
  context.skip();
}

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
  describe(`kubectl ${version ?? '(none)'} on --vocabulary=${vocabulary} --store=${store}`, function () {
    this.timeout(60_000);
    let etcd: EtcdServer | undefined;
    let server: Running | undefined;
    let kubectl: Kubectl;

    before(async function () {
      skipWithoutKubectl(this);
      etcd = store === 'etcd' ? await startEtcd() : undefined;
      server = await startPlatform({ vocabulary, store, ...(etcd === undefined ? {} : { etcdServers: [etcd.url] }) });
      kubectl = new Kubectl(server.kubeconfig);
    });
    after(async () => {
      if (server !== undefined) kubectl.close();
      await server?.stop();
      await etcd?.stop();
    });

    it('lists the first namespaces', async () => {
      const names = (await kubectl.ok(['get', 'ns', '-o', 'name'])).trim().split('\n');
      const word = vocabulary === 'platform' ? 'platform' : 'kube';
      assert.deepEqual(
        names,
        ['default', `${word}-node-lease`, `${word}-public`, `${word}-system`].map((n) => `namespace/${n}`).sort(),
      );
    });

    it('knows the resources', async () => {
      const text = await kubectl.ok(['api-resources']);
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
        assert.match(await kubectl.ok(['create', '-f', '-'], file), / created/);
      assert.match(
        await kubectl.ok(['get', 'deploy,pods,roles', '-o', 'name']),
        /deployment.apps\/web\npod\/lone\nrole.rbac.*\/reader/,
      );
      assert.match((await kubectl.run(['create', '-f', '-'], POD)).stderr, /AlreadyExists.*pods "lone" already exists/);
    });

    it('creates what a List holds', async () => {
      const list = { apiVersion: 'v1', kind: 'List', items: [configMap('first'), configMap('second')] };
      assert.equal(
        await kubectl.ok(['create', '-f', '-'], JSON.stringify(list)),
        'configmap/first created\nconfigmap/second created\n',
      );
    });

    it('does not create what the schemas do not know', async () => {
      const unknown = POD.replace('image: i', 'image: i, imagee: i').replace('lone', 'unknown');
      assert.match((await kubectl.run(['create', '-f', '-'], unknown)).stderr, /unknown field "(\S+\.)?imagee"/);
      const wrong = DEPLOYMENT.replace('replicas: 2', 'replicas: two').replace('web', 'wrong');
      assert.match((await kubectl.run(['create', '-f', '-'], wrong)).stderr, /replicas.*(integer|int32)/);
      assert.match(
        (await kubectl.run(['get', 'pod/unknown', 'deploy/wrong'])).stderr,
        /unknown.*\n.*wrong.* not found/,
      );
    });

    it('explains', async () => {
      const ports = await kubectl.ok(['explain', 'pod.spec.containers.ports']);
      assert.match(ports, /^ *containerPort\t<integer> -required-$/m);
      assert.match(ports, /^ *hostIP\t<string>/m);
      assert.match(
        await kubectl.ok(['explain', 'deployments', '--recursive']),
        /^ *maxSurge\t<(string|IntOrString)>$/m,
      );
    });

    it('creates, shows, changes and deletes a ConfigMap', async () => {
      await kubectl.ok(['create', 'configmap', 'one', '--from-literal=a=1']);
      assert.match(await kubectl.ok(['get', 'cm', 'one', '-o', 'yaml']), /^data:\n {2}a: "1"$/m);
      const before = await kubectl.json<ConfigMap>(['get', 'cm', 'one']);
      await kubectl.ok(['patch', 'cm', 'one', '--type=merge', '-p', '{"data":{"b":"2"}}']);
      await kubectl.ok(['patch', 'cm', 'one', '--type=json', '-p', '[{"op":"remove","path":"/data/a"}]']);
      await kubectl.ok(['label', 'cm', 'one', 'color=red']);
      const after = await kubectl.json<ConfigMap>(['get', 'cm', 'one']);
      assert.deepEqual([after.data, after.metadata.labels], [{ b: '2' }, { color: 'red' }]);
      const stale = await kubectl.run(['replace', '-f', '-'], JSON.stringify(before));
      assert.match(stale.stderr, /Conflict.*the object has been modified/);
      await kubectl.ok(['replace', '-f', '-'], JSON.stringify({ ...after, data: { c: '3' } }));
      assert.deepEqual((await kubectl.json<ConfigMap>(['get', 'cm', 'one'])).data, { c: '3' });
      assert.match(await kubectl.ok(['delete', 'cm', 'one']), /configmap "one" deleted/);
      assert.match((await kubectl.run(['get', 'cm', 'one'])).stderr, /NotFound.*configmaps "one" not found/);
    });

    it('selects by labels and fields, in chunks', async () => {
      const objects = Array.from({ length: 7 }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `many-${i}`, labels: { many: 'yes', odd: String(i % 2) } },
      }));
      await kubectl.ok(['create', '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n'));
      const names = async (...args: string[]): Promise<string[]> =>
        (await kubectl.json<Listed>(['get', 'cm', ...args])).items.map((i) => i.metadata.name);
      assert.equal((await names('-l', 'many=yes', '--chunk-size=2')).length, 7);
      assert.deepEqual(await names('-l', 'many,odd in (1)'), ['many-1', 'many-3', 'many-5']);
      assert.deepEqual(await names('--field-selector=metadata.name=many-4'), ['many-4']);
      await kubectl.ok(['delete', 'cm', '-l', 'many']);
      assert.deepEqual(await names('-l', 'many'), []);
    });

    it('watches', async () => {
      const watching = kubectl.follow(['get', 'cm', '--watch', '--output-watch-events', '-o', 'name']);
      try {
        await kubectl.ok(['create', 'configmap', 'seen', '--from-literal=a=1']);
        await watching.line(/configmap\/seen/);
        await kubectl.ok(['delete', 'cm', 'seen']);
      } finally {
        watching.stop();
      }
    });

    it('creates a namespace and fills it', async () => {
      await kubectl.ok(['create', 'namespace', 'team']);
      await kubectl.ok(['-n', 'team', 'create', 'configmap', 'inside', '--from-literal=a=1']);
      assert.match(await kubectl.ok(['get', 'cm', '-A']), /^team +inside/m);
      assert.match(
        (await kubectl.run(['-n', 'nowhere', 'create', 'configmap', 'x'])).stderr,
        /namespaces "nowhere" not found/,
      );
    });

    if (vocabulary === 'kubernetes') {
      it('creates by its typed commands', async () => {
        await kubectl.ok(['create', 'deployment', 'typed', '--image=i:1']);
        await kubectl.ok(['create', 'role', 'typed', '--verb=get', '--resource=pods']);
        assert.match(
          await kubectl.ok(['get', 'deploy/typed', 'role/typed', '-o', 'name']),
          /deployment.apps\/typed\nrole.*\/typed/,
        );
      });
    }
  });
}
