import assert from 'node:assert/strict';
import { withKubectl, type Kubectl } from './kubectl.js';

interface Deployment {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly uid: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly managedFields?: readonly { readonly manager: string; readonly operation: string }[];
  };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { name: string; image: string }[] } };
  };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const web = (name: string, image = 'i:1', more = ''): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  replicas: 2
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      containers:
      - {name: c, image: "${image}", ports: [{containerPort: 80}]}
${more}`;

const deploymentOf = (kubectl: Kubectl, name: string): Promise<Deployment> =>
  kubectl.json<Deployment>(['get', 'deployment', name, '--show-managed-fields']).catch(
    () => kubectl.json<Deployment>(['get', 'deployment', name]), // older ones show them always
  );
const imagesOf = ({ spec }: Deployment): string[] => spec.template.spec.containers.map((c) => `${c.name}=${c.image}`);

/** Client-side apply: kubectl keeps what it applied in an annotation, and sends strategic merge patches. */
function clientSide(client: () => Kubectl): void {
  it('apply creates, then finds nothing to do, then changes', async () => {
    const kubectl = client();
    assert.match(await kubectl.ok(['apply', '-f', '-'], web('a')), /deployment.apps\/a created/);
    const before = await deploymentOf(kubectl, 'a');
    assert.match(await kubectl.ok(['apply', '-f', '-'], web('a')), /deployment.apps\/a unchanged/);
    assert.equal((await deploymentOf(kubectl, 'a')).metadata.resourceVersion, before.metadata.resourceVersion);
    assert.match(await kubectl.ok(['apply', '-f', '-'], web('a', 'i:2')), /deployment.apps\/a configured/);
    const after = await deploymentOf(kubectl, 'a');
    assert.deepEqual(imagesOf(after), ['c=i:2']);
    assert.match(after.metadata.annotations?.[LAST_APPLIED] ?? '', /"image":"i:2"/);
  });

  it('apply adds and removes containers, and leaves alone what others have set', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('b', 'i:1', '      - {name: d, image: "j:1"}\n'));
    await kubectl.ok(['scale', 'deployment/b', '--replicas=7']);
    await kubectl.ok(['set', 'image', 'deployment/b', 'd=j:2']);
    await kubectl.ok(['apply', '-f', '-'], web('b').replace('  replicas: 2\n', ''));
    const after = await deploymentOf(kubectl, 'b');
    assert.deepEqual(imagesOf(after), ['c=i:1']);
    assert.equal(after.spec.replicas, 1); // no more in the configuration: back to the default
  });

  it('a dry run on the server shows the change and does not make it', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('dry'));
    const before = await deploymentOf(kubectl, 'dry');
    const told = await kubectl.ok(['apply', '--dry-run=server', '-f', '-'], web('dry', 'i:9'));
    assert.match(told, /deployment.apps\/dry configured \(server dry run\)/);
    assert.deepEqual(await deploymentOf(kubectl, 'dry'), before);
    assert.match(await kubectl.ok(['create', 'configmap', 'no', '--dry-run=server', '-o', 'name']), /configmap\/no/);
    assert.equal((await kubectl.run(['get', 'configmap', 'no'])).code, 1);
  });

  it('diff tells what apply would change, and whether anything', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('diff'));
    assert.deepEqual(await kubectl.run(['diff', '-f', '-'], web('diff')), { code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await kubectl.run(['diff', '-f', '-'], web('diff', 'i:5'));
    assert.equal(code, 1);
    assert.match(stdout, /^- +- image: i:1$/m);
    assert.match(stdout, /^\+ +- image: i:5$/m);
  });

  it('edit sends what the editor changed', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('edited'));
    const { code, stdout, stderr } = await kubectl.run(['edit', 'deployment/edited'], '', {
      KUBE_EDITOR: 'sed -i s/i:1/i:7/',
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /deployment.apps\/edited edited/);
    assert.deepEqual(imagesOf(await deploymentOf(kubectl, 'edited')), ['c=i:7']);
  });

  it('scale, label, annotate and patch change just that', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('parts'));
    assert.match(await kubectl.ok(['scale', 'deployment/parts', '--replicas=4']), /scaled/);
    const wrongCount = await kubectl.run(['scale', 'deployment/parts', '--current-replicas=9', '--replicas=1']);
    assert.equal(wrongCount.code, 1);
    await kubectl.ok(['label', 'deployment/parts', 'color=red', 'app-']);
    await kubectl.ok(['annotate', 'deployment/parts', 'why=because']);
    const patch = { spec: { template: { spec: { containers: [{ name: 'e', image: 'k:1' }] } } } };
    await kubectl.ok(['patch', 'deployment/parts', '-p', JSON.stringify(patch)]);
    const { metadata, spec } = await deploymentOf(kubectl, 'parts');
    assert.deepEqual([spec.replicas, metadata.labels, metadata.annotations?.['why']], [4, { color: 'red' }, 'because']);
    assert.deepEqual(imagesOf(await deploymentOf(kubectl, 'parts')).sort(), ['c=i:1', 'e=k:1']);
  });

  it('create --save-config lets apply go on from there, replace and replace --force do not', async () => {
    const kubectl = client();
    await kubectl.ok(['create', '--save-config', '-f', '-'], web('saved'));
    const applied = await kubectl.run(['apply', '-f', '-'], web('saved', 'i:2'));
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    const before = await deploymentOf(kubectl, 'saved');
    await kubectl.ok(['replace', '-f', '-'], web('saved', 'i:3'));
    const replaced = await deploymentOf(kubectl, 'saved');
    assert.deepEqual([imagesOf(replaced), replaced.metadata.uid], [['c=i:3'], before.metadata.uid]);
    assert.match(await kubectl.ok(['replace', '--force', '-f', '-'], web('saved', 'i:4')), /deleted.*replaced/s);
    const forced = await deploymentOf(kubectl, 'saved');
    assert.deepEqual(imagesOf(forced), ['c=i:4']);
    assert.notEqual(forced.metadata.uid, before.metadata.uid);
  });

  it('rollout history tells the revisions that a controller has kept', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('rolled'));
    const { metadata } = await deploymentOf(kubectl, 'rolled');
    const replicaSet = (revision: number): object => ({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `rolled-${revision}`,
        labels: { app: 'rolled' },
        annotations: {
          'deployment.kubernetes.io/revision': String(revision),
          'kubernetes.io/change-cause': `cause ${revision}`,
        },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'rolled', uid: metadata.uid, controller: true },
        ],
      },
      spec: {
        selector: { matchLabels: { app: 'rolled' } },
        template: {
          metadata: { labels: { app: 'rolled' } },
          spec: { containers: [{ name: 'c', image: `i:${revision}` }] },
        },
      },
    });
    for (const revision of [1, 2]) await kubectl.ok(['create', '-f', '-'], JSON.stringify(replicaSet(revision)));
    const history = await kubectl.ok(['rollout', 'history', 'deployment/rolled']);
    assert.match(history, /^1 +cause 1$/m);
    assert.match(history, /^2 +cause 2$/m);
  });
}

function serverSide(client: () => Kubectl): void {
  const APPLY = ['apply', '--server-side', '-f', '-'];

  it('apply --server-side creates and owns', async () => {
    const kubectl = client();
    assert.match(await kubectl.ok(APPLY, web('s')), /deployment.apps\/s serverside-applied/);
    await kubectl.ok(APPLY, web('s'));
    const { metadata } = await deploymentOf(kubectl, 's');
    assert.deepEqual(
      metadata.managedFields?.map((e) => [e.manager, e.operation]),
      [['kubectl', 'Apply']],
    );
    assert.equal(metadata.annotations?.[LAST_APPLIED], undefined);
  });

  it('another manager meets a conflict, and may force it', async () => {
    const kubectl = client();
    await kubectl.ok(APPLY, web('conflict'));
    const other = [...APPLY, '--field-manager=other'];
    const { code, stderr } = await kubectl.run(other, web('conflict', 'i:2'));
    assert.equal(code, 1);
    assert.match(stderr, /conflict with "kubectl".*\.spec\.template\.spec\.containers\[name="c"\]\.image/s);
    assert.deepEqual(imagesOf(await deploymentOf(kubectl, 'conflict')), ['c=i:1']);
    await kubectl.ok([...other, '--force-conflicts'], web('conflict', 'i:2'));
    assert.deepEqual(imagesOf(await deploymentOf(kubectl, 'conflict')), ['c=i:2']);
  });

  it('takes over from a client-side apply without a conflict', async () => {
    const kubectl = client();
    await kubectl.ok(['apply', '-f', '-'], web('moved'));
    await kubectl.ok(APPLY, web('moved', 'i:2'));
    assert.deepEqual(imagesOf(await deploymentOf(kubectl, 'moved')), ['c=i:2']);
  });

  it('a dry run changes nothing', async () => {
    const kubectl = client();
    await kubectl.ok(APPLY, web('sdry'));
    const before = await deploymentOf(kubectl, 'sdry');
    await kubectl.ok([...APPLY, '--dry-run=server'], web('sdry', 'i:2'));
    assert.deepEqual(await deploymentOf(kubectl, 'sdry'), before);
  });
}

function drains(client: () => Kubectl): void {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
  const pod = (name: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name.slice(0, 1) } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i:1' }] },
  });
  const running = (name: string): string[] => [
    'patch',
    'pod',
    name,
    '--subresource=status',
    '-p',
    '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}', // prettier-ignore
  ];
  const DRAIN = ['drain', 'node-1', '--force', '--grace-period=0'];

  it('drain marks the node and evicts its pods', async () => {
    const kubectl = client();
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(node));
    for (const name of ['p', 'q']) await kubectl.ok(['create', '-f', '-'], JSON.stringify(pod(name)));
    await kubectl.ok([...DRAIN, '--timeout=20s']);
    assert.equal(await kubectl.ok(['get', 'pods', '-o', 'name']), '');
    assert.match(await kubectl.ok(['get', 'node', 'node-1']), /SchedulingDisabled/);
  });

  it('drain waits for a disruption budget, and says which', async function () {
    const kubectl = client();
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(pod('r')));
    if ((await kubectl.run(running('r'))).code !== 0) this.skip(); // --subresource came with 1.24
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'keep' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'r' } } } }; // prettier-ignore
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(budget));
    const counted = { status: { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } };
    await kubectl.ok(['patch', 'poddisruptionbudget', 'keep', '--subresource=status', '--type=merge', '-p', JSON.stringify(counted)]); // prettier-ignore
    const { code, stderr } = await kubectl.run([...DRAIN, '--timeout=2s']);
    assert.equal(code, 1);
    assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/);
    assert.equal(await kubectl.ok(['get', 'pods', '-o', 'name']), 'pod/r\n');
    await kubectl.ok(['delete', 'poddisruptionbudget', 'keep']);
    await kubectl.ok([...DRAIN, '--timeout=20s']);
    assert.equal(await kubectl.ok(['get', 'pods', '-o', 'name']), '');
  });
}

for (const vocabulary of ['kubernetes', 'platform'] as const) {
  withKubectl('applies by itself', { vocabulary, store: 'embedded' }, clientSide);
  withKubectl('applies on the server', { vocabulary, store: 'embedded' }, serverSide);
  withKubectl('drains', { vocabulary, store: 'embedded' }, drains);
}
