import assert from 'node:assert/strict';
import { Kubectl, withKubectl, type Ran } from './kubectl.js';

/** Whether the kubectl that runs is of an earlier release than 1.`minor`. */
const older = (minor: number): boolean => Number(/^v1\.(\d+)/.exec(Kubectl.version() ?? '')?.[1] ?? 0) < minor;

/** What a user may do, as one of the verbs of `auth can-i` with its arguments. */
async function can(kubectl: Kubectl, user: string, ...question: string[]): Promise<boolean> {
  const { stdout, code } = await kubectl.run(['auth', 'can-i', ...question, '--as', user]);
  const answer = stdout.trim().split(/\s/)[0];
  assert.ok(answer === 'yes' || answer === 'no', `${question.join(' ')}: ${stdout}`);
  assert.equal(code, answer === 'yes' ? 0 : 1);
  return answer === 'yes';
}

const forbidden = ({ code, stderr }: Ran, message: RegExp = /forbidden/i): void => {
  assert.equal(code, 1);
  assert.match(stderr, message);
};

function auth(client: () => Kubectl): void {
  it('create role, rolebinding, clusterrole and clusterrolebinding give rights, and delete takes them', async () => {
    const kubectl = client();
    await kubectl.ok(['create', 'namespace', 'team']);
    await kubectl.ok(['create', 'role', 'reader', '-n', 'team', '--verb=get,list', '--resource=configmaps,pods/log']);
    assert.equal(await can(kubectl, 'ann', 'get', 'configmaps', '-n', 'team'), false);
    await kubectl.ok([
      'create',
      'rolebinding',
      'reader',
      '-n',
      'team',
      '--role=reader',
      '--user=ann',
      '--group=readers',
    ]);
    assert.equal(await can(kubectl, 'ann', 'get', 'configmaps', '-n', 'team'), true);
    assert.equal(await can(kubectl, 'ann', 'get', 'pods', '--subresource=log', '-n', 'team'), true);
    assert.equal(await can(kubectl, 'ann', 'get', 'configmaps'), false);
    assert.equal(await can(kubectl, 'ann', 'delete', 'configmaps', '-n', 'team'), false);
    assert.equal(await can(kubectl, 'bea', 'list', 'configmaps', '-n', 'team', '--as-group=readers'), true);
    await kubectl.ok(['delete', 'rolebinding', 'reader', '-n', 'team']);
    assert.equal(await can(kubectl, 'ann', 'get', 'configmaps', '-n', 'team'), false);

    await kubectl.ok(['create', 'clusterrole', 'names', '--verb=get', '--resource=secrets', '--resource-name=one']);
    await kubectl.ok(['create', 'clusterrolebinding', 'names', '--clusterrole=names', '--serviceaccount=team:robot']);
    const robot = 'system:serviceaccount:team:robot';
    assert.equal(await can(kubectl, robot, 'get', 'secrets/one', '-n', 'team'), true);
    assert.equal(await can(kubectl, robot, 'get', 'secrets/two', '-n', 'team'), false);
    assert.equal(await can(kubectl, robot, 'list', 'secrets', '-n', 'team'), false);
  });

  it('--as and --as-group act as somebody else', async () => {
    const kubectl = client();
    forbidden(
      await kubectl.run(['get', 'nodes', '--as', 'ann']),
      /User "ann" cannot list resource "nodes" in API group ""/,
    );
    assert.match(await kubectl.ok(['get', 'ns', '--as', 'ann', '--as-group', 'system:masters']), /default/);
    await kubectl.ok([
      'create',
      'clusterrole',
      'actor',
      '--verb=impersonate',
      '--resource=users',
      '--resource-name=ann',
    ]);
    await kubectl.ok(['create', 'clusterrolebinding', 'actor', '--clusterrole=actor', '--user=dan']);
    assert.equal(await can(kubectl, 'dan', 'impersonate', 'users/ann'), true);
    assert.equal(await can(kubectl, 'dan', 'impersonate', 'users/bea'), false);
    assert.equal(await can(kubectl, 'dan', 'impersonate', 'groups'), false);
  });

  it('auth can-i --list shows everything, and just what one may', async () => {
    const kubectl = client();
    assert.match(await kubectl.ok(['auth', 'can-i', '--list']), /\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/);
    const little = await kubectl.ok(['auth', 'can-i', '--list', '--as', 'nobody-yet']);
    assert.match(little, /selfsubjectaccessreviews\.authorization\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]/);
    assert.match(little, /\[\/healthz\]/);
    assert.doesNotMatch(little, /configmaps|\*\.\*/);
  });

  it('auth whoami tells who asks', async function () {
    const kubectl = client();
    if (older(28)) this.skip();
    const who = await kubectl.ok(['auth', 'whoami', '--as', 'ann', '--as-group', 'dev', '--as-uid', '7']);
    assert.match(who, /Username\s+ann/);
    assert.match(who, /UID\s+7/);
    assert.match(who, /Groups\s+\[dev system:authenticated\]/);
  });

  it('auth reconcile makes roles and bindings hold at least what a file says', async () => {
    const kubectl = client();
    const group = 'rbac.authorization.k8s.io';
    const file = (verbs: string, users: readonly string[]): string => `
apiVersion: ${group}/v1
kind: ClusterRole
metadata: {name: reconciled}
rules: [{apiGroups: [""], resources: [pods], verbs: [${verbs}]}]
---
apiVersion: ${group}/v1
kind: ClusterRoleBinding
metadata: {name: reconciled}
roleRef: {apiGroup: ${group}, kind: ClusterRole, name: reconciled}
subjects: [${users.map((name) => `{apiGroup: ${group}, kind: User, name: ${name}}`).join(', ')}]
`;
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], file('get, list', ['eva']));
    assert.equal(await can(kubectl, 'eva', 'list', 'pods'), true);
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], file('watch', ['fay']));
    for (const user of ['eva', 'fay']) {
      for (const verb of ['get', 'watch'])
        assert.equal(await can(kubectl, user, verb, 'pods'), true, `${user} ${verb}`);
    }
    await kubectl.ok(['auth', 'reconcile', '-f', '-', '--remove-extra-permissions', '--remove-extra-subjects'], file('watch', ['fay'])); // prettier-ignore
    assert.equal(await can(kubectl, 'fay', 'get', 'pods'), false);
    assert.equal(await can(kubectl, 'eva', 'watch', 'pods'), false);
    assert.equal(await can(kubectl, 'fay', 'watch', 'pods'), true);
  });

  it('create token gives one that works until its account is gone', async function () {
    const kubectl = client();
    if (older(24)) this.skip();
    await kubectl.ok(['create', 'serviceaccount', 'robot2']);
    const token = (await kubectl.ok(['create', 'token', 'robot2', '--duration=20m'])).trim();
    const withToken = (): Promise<Ran> => kubectl.withToken(token, ['get', 'pods']);
    forbidden(await withToken(), /User "system:serviceaccount:default:robot2" cannot list resource "pods"/);
    await kubectl.ok(['create', 'rolebinding', 'robot2', '--clusterrole=view', '--serviceaccount=default:robot2']);
    assert.equal((await withToken()).code, 0);
    await kubectl.ok(['delete', 'serviceaccount', 'robot2']);
    const { code, stderr } = await withToken();
    assert.equal(code, 1);
    assert.match(stderr, /You must be logged in|Unauthorized/);
  });

  it('refuses to give more than one has', async () => {
    const kubectl = client();
    await kubectl.ok(['create', 'rolebinding', 'deputy', '--clusterrole=admin', '--user=gus']);
    const as = ['--as', 'gus'];
    await kubectl.ok(['create', 'role', 'fine', '--verb=get', '--resource=pods', ...as]);
    forbidden(await kubectl.run(['create', 'role', 'more', '--verb=get', '--resource=nodes', ...as]), /not currently held/); // prettier-ignore
    forbidden(await kubectl.run(['create', 'rolebinding', 'all', '--clusterrole=cluster-admin', '--user=gus', ...as]), /not currently held/); // prettier-ignore
    await kubectl.ok(['create', 'rolebinding', 'share', '--clusterrole=edit', '--user=hal', ...as]);
    forbidden(await kubectl.run(['create', 'clusterrolebinding', 'share', '--clusterrole=view', '--user=hal', ...as]), /cannot create resource "clusterrolebindings"/); // prettier-ignore
  });
}

/** A user whose only right is `view` in one namespace. */
function viewer(client: () => Kubectl): void {
  const as = ['--as', 'vera', '-n', 'shop'];

  before(async () => {
    const kubectl = client();
    await kubectl.ok(['create', 'namespace', 'shop']);
    await kubectl.ok(['create', 'rolebinding', 'vera', '-n', 'shop', '--clusterrole=view', '--user=vera']);
    await kubectl.ok(['create', 'configmap', 'prices', '-n', 'shop', '--from-literal=a=1']);
    await kubectl.ok(['create', 'secret', 'generic', 'safe', '-n', 'shop', '--from-literal=a=1']);
  });

  it('sees what there is', async () => {
    const kubectl = client();
    assert.match(await kubectl.ok(['api-resources', '--as', 'vera']), /configmaps/);
    assert.match(await kubectl.ok(['version', '--as', 'vera']), /Server Version/);
    assert.match(await kubectl.ok(['explain', 'pods', '--as', 'vera']), /Pod/);
  });

  it('does so with every command', async () => {
    const kubectl = client();
    assert.match(await kubectl.ok(['get', 'cm,pods,deploy,svc', ...as]), /prices/);
    assert.match(await kubectl.ok(['describe', 'cm', 'prices', ...as]), /prices/);
    forbidden(await kubectl.run(['get', 'secret', 'safe', ...as]), /cannot get resource "secrets"/);
    forbidden(await kubectl.run(['get', 'cm', '-A', '--as', 'vera']), /cannot list resource "configmaps" in API group "" at the cluster scope/); // prettier-ignore
    forbidden(await kubectl.run(['create', 'cm', 'x', ...as]), /cannot create resource "configmaps"/);
    forbidden(await kubectl.run(['delete', 'cm', 'prices', ...as]), /cannot delete resource "configmaps"/);
    forbidden(await kubectl.run(['annotate', 'cm', 'prices', 'a=b', ...as]), /cannot patch resource "configmaps"/);
    if (!older(24)) forbidden(await kubectl.run(['create', 'token', 'default', ...as]), /serviceaccounts/);
    forbidden(await kubectl.run(['get', '--raw', '/metrics', '--as', 'vera']), /cannot get path "\/metrics"/);
    assert.match(await kubectl.ok(['get', '--raw', '/healthz', '--as', 'vera']), /ok/);
  });
}

// kubectl knows kinds of access by their Kubernetes words only.
for (const store of ['etcd', 'embedded'] as const) {
  withKubectl('auth', { vocabulary: 'kubernetes', store }, (client) => {
    auth(client);
    describe('of a viewer', () => viewer(client));
  });
}
