import assert from 'node:assert/strict';
import { startEtcd } from '../../services/storage/testing/start-etcd.js';
import { Access, on, rulesIn, tokenFile, type Rule, type TestUser } from './tools/access.js';
import type { Reply } from './tools/client.js';
import { namesIn } from './tools/document.js';
import { configMap, configMapsIn, created, createConfigMap, deployment, deploymentsIn, eventually, ok, refused } from './tools/objects.js'; // prettier-ignore
import { onServer, TestServer, type StoreName } from './tools/server.js';

const OWN = 'a-token-for-tests';
const APPLY = 'application/apply-patch+yaml';

const flagsFor = (words: string): readonly string[] => [`--token-auth-file=${tokenFile(OWN)}`, `--vocabulary=${words}`];

for (const [store, words] of [
  ['embedded', 'kubernetes'],
  ['etcd', 'platform'],
] as const satisfies readonly (readonly [StoreName, string])[]) {
  const o = { store, flags: flagsFor(words), controllers: ['clusterrole-aggregation'] };
  onServer(`roles and bindings (${store} store, words of ${words})`, o, (server) => {
    const access = new Access(server, words);

    describe('without any binding', () => {
      it('refuses a user everything but what everybody may', async () => {
        const { client, namespace, name } = await access.newUser();
        const why = new RegExp(`User "${name}" cannot list resource "configmaps" in API group "" in the namespace`);
        refused(await client.get(configMapsIn(namespace)), 403, 'Forbidden', why);
        refused(await client.get('/api/v1/nodes'), 403, 'Forbidden');
        refused(await client.get('/metrics'), 403, 'Forbidden');
        refused(await client.post(access.path('clusterrolebindings'), {}), 403, 'Forbidden');
        for (const path of ['/api', '/apis', '/version', '/healthz', '/openapi/v2']) ok(await client.get(path));
      });
    });

    describe('a grant', () => {
      it('counts when it is answered, and no longer when its end is answered', async () => {
        const { client, namespace, name } = await access.newUser();
        for (let i = 0; i < 20; i++) {
          const binding = await access.bind(name, namespace, 'view');
          ok(await client.get(configMapsIn(namespace)));
          ok(await access.admin.delete(binding));
          refused(await client.get(configMapsIn(namespace)), 403, 'Forbidden');
        }
      });

      it('counts in its namespace only', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.bind(name, namespace, 'edit');
        created(await client.post(configMapsIn(namespace), configMap('a')));
        for (const path of ['/api/v1/configmaps', configMapsIn('default'), '/api/v1/nodes']) {
          refused(await client.get(path), 403, 'Forbidden');
        }
        ok(await client.get(`/api/v1/namespaces/${namespace}`)); // a namespace is a place of its own
        refused(await client.delete(`/api/v1/namespaces/${namespace}`), 403, 'Forbidden');
      });

      it('changes with its role', async () => {
        const { client, namespace, name } = await access.newUser();
        const role = access.object('Role', 'r', { rules: [on('get', 'configmaps', 'a')] });
        created(await access.admin.post(access.path('roles', namespace), role));
        created(
          await access.admin.post(
            access.path('rolebindings', namespace),
            access.binding('RoleBinding', 'b', ['Role', 'r'], name),
          ),
        );
        await createConfigMap(access.admin, namespace, 'a');
        const read = (): Promise<Reply> => client.get(`${configMapsIn(namespace)}/a`);
        ok(await read());
        ok(await access.admin.patch(access.path('roles', namespace, 'r'), { rules: [on('get', 'configmaps', 'b')] }));
        refused(await read(), 403, 'Forbidden');
        ok(await access.admin.patch(access.path('roles', namespace, 'r'), { rules: [on('get', 'configmaps')] }));
        ok(await read());
        ok(await access.admin.delete(access.path('roles', namespace, 'r')));
        refused(await read(), 403, 'Forbidden', new RegExp(`RBAC: role.${access.group} "r" not found`));
      });

      it('with names allows a list or a watch of that name, and no other', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.grant(name, namespace, on('get,list,watch,delete,deletecollection,create', 'configmaps', 'a'));
        await createConfigMap(access.admin, namespace, 'a');
        await createConfigMap(access.admin, namespace, 'b');
        const list = (query: string): Promise<Reply> => client.get(`${configMapsIn(namespace)}${query}`);
        assert.deepEqual(namesIn(ok(await list('?fieldSelector=metadata.name%3Da'))), ['a']);
        for (const query of ['', '?fieldSelector=metadata.name%3Db', '?fieldSelector=metadata.name!%3Da', '/b']) {
          refused(await list(query), 403, 'Forbidden');
        }
        const watch = await client.watch(`${configMapsIn(namespace)}?watch=1&fieldSelector=metadata.name%3Da`);
        assert.equal(watch.code, 200);
        watch.close();
        refused(await client.delete(configMapsIn(namespace)), 403, 'Forbidden');
        refused(await client.delete(`${configMapsIn(namespace)}?fieldSelector=metadata.name%3Da`), 403, 'Forbidden');
        refused(await client.post(configMapsIn(namespace), configMap('a')), 403, 'Forbidden');
        ok(await client.delete(`${configMapsIn(namespace)}/a`));
      });

      it('of a path counts for the whole cluster only', async () => {
        const { client, namespace, name } = await access.newUser();
        const role = access.object('ClusterRole', `metrics-${name}`, {
          rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
        });
        created(await access.admin.post(access.path('clusterroles'), role));
        await access.bind(name, namespace, `metrics-${name}`);
        refused(await client.get('/metrics'), 403, 'Forbidden');
        await access.bind(name, '', `metrics-${name}`);
        ok(await client.get('/metrics'));
      });
    });

    describe('the bootstrap policy', () => {
      it('is there once the server is ready', async () => {
        const { text } = await access.admin.get('/readyz?verbose');
        assert.match(text, /^\[\+\]poststarthook\/rbac\/bootstrap-roles ok$/m);
        for (const name of [
          'cluster-admin',
          'admin',
          'edit',
          'view',
          'system:discovery',
          'system:basic-user',
          'system:node',
        ]) {
          const { metadata } = await access.clusterRole(name);
          assert.equal(metadata.labels?.[access.words.labels.bootstrapping], 'rbac-defaults');
        }
        const { system, public: publicOne } = access.words.namespaces;
        for (const [namespace, name] of [
          [system, 'extension-apiserver-authentication-reader'],
          [publicOne, 'system:controller:bootstrap-signer'],
        ] as const) {
          ok(await access.admin.get(access.path('roles', namespace, name)));
        }
        const binding = ok(await access.admin.get(access.path('clusterrolebindings', '', 'cluster-admin')));
        assert.deepEqual(binding['subjects'], [{ kind: 'Group', apiGroup: access.group, name: 'system:masters' }]);
      });

      it('was written once', async () => {
        const { items } = ok(await access.admin.get(access.path('clusterroles')));
        const written = items.filter(
          ({ metadata }) => metadata.labels?.[access.words.labels.bootstrapping] !== undefined,
        );
        const before = written.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
        await server().restart();
        const after = await Promise.all(written.map(({ metadata }) => access.clusterRole(metadata.name)));
        assert.deepEqual(
          after.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
          before,
        );
      });

      it('is stored as clients write it: a write of the same is none', async () => {
        for (const [resource, namespace] of [
          ['clusterroles', ''],
          ['clusterrolebindings', ''],
          ['roles', access.words.namespaces.system],
          ['rolebindings', access.words.namespaces.system],
        ] as const) {
          for (const item of ok(await access.admin.get(access.path(resource, namespace))).items) {
            const { name, resourceVersion, labels } = item.metadata;
            if (labels?.[access.words.labels.bootstrapping] === undefined) continue;
            const body = { ...item, kind: undefined, apiVersion: undefined };
            const after = ok(await access.admin.put(access.path(resource, namespace, name), body));
            const { managedFields, ...metadata } = after.metadata;
            assert.deepEqual([name, metadata.resourceVersion, managedFields], [name, resourceVersion, undefined]);
          }
        }
      });

      /** What a user with one of the roles may do in his namespace. */
      const may = async ({ client, namespace }: TestUser): Promise<Record<string, number>> => ({
        read: (await client.get(configMapsIn(namespace))).code,
        readSecrets: (await client.get(`/api/v1/namespaces/${namespace}/secrets`)).code,
        write: (await client.post(deploymentsIn(namespace), deployment('d'))).code,
        readRoles: (await client.get(access.path('roles', namespace))).code,
        bind: (await client.post(access.path('rolebindings', namespace), access.binding('RoleBinding', 'b', ['ClusterRole', 'view'], 'x'))).code, // prettier-ignore
        bindMore: (await client.post(access.path('rolebindings', namespace), access.binding('RoleBinding', 'c', ['ClusterRole', 'cluster-admin'], 'x'))).code, // prettier-ignore
        quota: (await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' } })).code,
      });

      for (const [role, expected] of [
        ['view', { read: 200, readSecrets: 403, write: 403, readRoles: 403, bind: 403, bindMore: 403, quota: 403 }],
        ['edit', { read: 200, readSecrets: 200, write: 201, readRoles: 403, bind: 403, bindMore: 403, quota: 403 }],
        ['admin', { read: 200, readSecrets: 200, write: 201, readRoles: 200, bind: 201, bindMore: 403, quota: 403 }],
        [
          'cluster-admin',
          { read: 200, readSecrets: 200, write: 201, readRoles: 200, bind: 201, bindMore: 201, quota: 201 },
        ],
      ] as const) {
        it(`lets ${role} do what it says`, async () => {
          const user = await access.newUser();
          await access.bind(user.name, user.namespace, role);
          assert.deepEqual(await may(user), expected);
        });
      }
    });

    describe('escalation', () => {
      const rbacRights = (): Rule => ({
        apiGroups: [access.group],
        resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
        verbs: ['get', 'list', 'create', 'update', 'patch'],
      });
      const rights = (verb: string, resource: string, ...resourceNames: string[]): Rule => ({
        apiGroups: [access.group],
        resources: [resource],
        verbs: [verb],
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      });
      const roleOf = (...rules: readonly Rule[]): object => access.object('Role', 'r', { rules });

      it('is refused however a role is written', async () => {
        const { client, namespace, name, group } = await access.newUser();
        await access.grant(name, namespace, rbacRights(), on('get', 'configmaps'));
        const [roles, r] = [access.path('roles', namespace), access.path('roles', namespace, 'r')];
        const more = roleOf(on('get', 'configmaps'), on('get,list', 'secrets'));
        const said = `roles.${access.group} "r" is forbidden: user "${name}" (groups=["${group}" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`;
        const refusedSo = (reply: Reply): void => {
          const { message, details } = refused(reply, 403, 'Forbidden');
          assert.equal(message, said);
          assert.deepEqual(details, { name: 'r', group: access.group, kind: 'roles' });
        };
        refusedSo(await client.post(roles, more));
        refusedSo(await client.post(`${roles}?dryRun=All`, more));
        refusedSo(await client.patch(`${r}?fieldManager=me`, more, APPLY));
        const mine = created(await client.post(roles, roleOf(on('get', 'configmaps'))));
        refusedSo(await client.put(r, { ...mine, ...more, metadata: mine.metadata }));
        refusedSo(await client.patch(r, more));
        refusedSo(
          await client.patch(
            r,
            [{ op: 'add', path: '/rules/1', value: on('get,list', 'secrets') }],
            'application/json-patch+json',
          ),
        );
        refusedSo(await client.patch(`${r}?fieldManager=me&force=true`, more, APPLY));
        refusedSo(await client.patch(`${r}?dryRun=All`, more));
        const { metadata, rules } = ok(await client.get(r)) as unknown as { metadata: object; rules: unknown };
        assert.deepEqual(
          [metadata, rules],
          [mine.metadata, [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]],
        );
      });

      it('is refused however a binding is written', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.grant(name, namespace, rbacRights(), on('get', 'configmaps'));
        const [bindings, b] = [access.path('rolebindings', namespace), access.path('rolebindings', namespace, 'b')];
        const body = access.binding('RoleBinding', 'b', ['ClusterRole', 'view'], name);
        const held = /is attempting to grant RBAC permissions not currently held/;
        refused(await client.post(bindings, body), 403, 'Forbidden', held);
        refused(await client.post(`${bindings}?dryRun=All`, body), 403, 'Forbidden', held);
        refused(await client.patch(`${b}?fieldManager=me`, body, APPLY), 403, 'Forbidden', held);
        created(
          await access.admin.post(bindings, access.binding('RoleBinding', 'b', ['ClusterRole', 'view'], 'somebody')),
        );
        refused(await client.put(b, body), 403, 'Forbidden', held);
        refused(await client.patch(b, body), 403, 'Forbidden', held);
        refused(await client.patch(`${b}?fieldManager=me&force=true`, body, APPLY), 403, 'Forbidden', held);
        refused(
          await client.post(bindings, access.binding('RoleBinding', 'c', ['Role', 'gone'], name)),
          404,
          'NotFound',
          /roles.* "gone" not found/,
        );
        refused(await client.get('/api/v1/nodes'), 403, 'Forbidden');
      });

      it('needs the rights in the cluster for what counts there', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.grant(name, '', rbacRights());
        await access.grant(name, namespace, on('get', 'configmaps'));
        const rules = { rules: [on('get', 'configmaps')] };
        created(await client.post(access.path('roles', namespace), access.object('Role', 'r', rules)));
        refused(
          await client.post(access.path('clusterroles'), access.object('ClusterRole', `c-${name}`, rules)),
          403,
          'Forbidden',
        );
        refused(
          await client.post(
            access.path('clusterrolebindings'),
            access.binding('ClusterRoleBinding', `c-${name}`, ['ClusterRole', 'view'], name),
          ),
          403,
          'Forbidden',
        );
      });

      it('is allowed with the right to escalate', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.grant(name, namespace, rbacRights(), rights('escalate', 'roles'));
        created(await client.post(access.path('roles', namespace), roleOf(on('*', 'secrets'))));
        refused(
          await client.post(
            access.path('rolebindings', namespace),
            access.binding('RoleBinding', 'b', ['Role', 'r'], name),
          ),
          403,
          'Forbidden',
        );
      });

      it('is allowed with the right to bind that role', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.grant(name, namespace, rbacRights(), rights('bind', 'clusterroles', 'view'));
        const bind = (role: string): Promise<Reply> =>
          client.post(
            access.path('rolebindings', namespace),
            access.binding('RoleBinding', `b-${role}`, ['ClusterRole', role], name),
          );
        created(await bind('view'));
        ok(await client.get(configMapsIn(namespace)));
        refused(await bind('edit'), 403, 'Forbidden');
        refused(await client.post(access.path('roles', namespace), roleOf(on('*', 'secrets'))), 403, 'Forbidden');
      });

      it('is refused with a label that puts a role into others, and with selectors', async () => {
        const { client, name } = await access.newUser();
        await access.grant(name, '', rbacRights());
        const role = access.object('ClusterRole', `sealed-${name}`, { rules: [on('*', 'secrets')] });
        created(await access.admin.post(access.path('clusterroles'), role));
        const labels = { [access.words.labels.aggregateToView]: 'true' };
        refused(
          await client.patch(access.path('clusterroles', '', `sealed-${name}`), { metadata: { labels } }),
          403,
          'Forbidden',
        );
        const gathering = access.object('ClusterRole', `all-${name}`, {
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
        });
        refused(
          await client.post(access.path('clusterroles'), gathering),
          403,
          'Forbidden',
          /must have cluster-admin privileges to use the aggregationRule/,
        );
      });
    });

    describe('a role that gathers', () => {
      const rulesOn = async (role: string, resource: string): Promise<readonly Rule[]> =>
        rulesIn(await access.clusterRole(role)).filter(({ resources = [] }) => resources.includes(resource));

      it('takes in a new role with the label, through others too, and lets go of it again', async () => {
        const { client, namespace, name } = await access.newUser();
        await access.bind(name, namespace, 'admin');
        const [role, resource] = [`kites-${name}`, `kites-of-${name}`];
        const labels = { [access.words.labels.aggregateToView]: 'true' };
        const body = access.object('ClusterRole', role, {
          metadata: { name: role, labels },
          rules: [{ apiGroups: ['toys'], resources: [resource], verbs: ['get'] }],
        });
        created(await access.admin.post(access.path('clusterroles'), body));
        for (const gathers of ['view', 'edit', 'admin']) {
          await eventually(async () => ((await rulesOn(gathers, resource)).length === 1 ? true : undefined));
        }
        const edit = { rules: [{ apiGroups: ['toys'], resources: [resource], verbs: ['get'] }] };
        await access.grant(name, namespace, { apiGroups: [access.group], resources: ['roles'], verbs: ['create'] });
        created(await client.post(access.path('roles', namespace), access.object('Role', 'kites', edit))); // he has it
        ok(await access.admin.delete(access.path('clusterroles', '', role)));
        for (const gathers of ['view', 'edit', 'admin']) {
          await eventually(async () => ((await rulesOn(gathers, resource)).length === 0 ? true : undefined));
        }
      });

      it('gets its rules back when somebody writes others', async () => {
        const [{ resourceVersion }, before] = [
          (await access.clusterRole('view')).metadata,
          rulesIn(await access.clusterRole('view')),
        ];
        ok(await access.admin.patch(access.path('clusterroles', '', 'view'), { rules: [on('*', 'secrets')] }));
        await eventually(async () =>
          JSON.stringify(rulesIn(await access.clusterRole('view'))) === JSON.stringify(before) ? true : undefined,
        );
        assert.notEqual((await access.clusterRole('view')).metadata.resourceVersion, resourceVersion);
      });
    });

    describe('after a restart', () => {
      const NODE = 'system:node-problem-detector';

      it('the policy has back what it lacked, and keeps what it had beyond', async () => {
        const { admin, words: w } = access;
        const own: Rule = { verbs: ['get'], apiGroups: ['toys'], resources: ['kites'] };
        const kept = { metadata: { annotations: { [w.annotations.rbacAutoupdate]: 'false' } } };
        const bindingPath = access.path('clusterrolebindings', '', 'system:node-proxier');
        ok(await admin.patch(access.path('clusterroles', '', NODE), { rules: [own], metadata: { labels: null } }));
        ok(await admin.patch(access.path('clusterroles', '', 'system:monitoring'), { rules: [], ...kept }));
        ok(await admin.patch(bindingPath, { subjects: [] }));
        ok(await admin.patch(access.path('clusterrolebindings', '', 'system:monitoring'), { subjects: [], ...kept }));
        ok(await admin.delete(access.path('clusterroles', '', 'system:heapster')));
        ok(await admin.delete(access.path('clusterrolebindings', '', 'system:volume-scheduler')));
        created(
          await admin.post(
            access.path('clusterrolebindings'),
            access.binding('ClusterRoleBinding', 'system:volume-scheduler', ['ClusterRole', 'view'], 'x'),
          ),
        );
        await server().restart();
        const role = await access.clusterRole(NODE);
        assert.deepEqual(rulesIn(role)[0], own);
        assert.equal(rulesIn(role).length, 4);
        assert.equal(role.metadata.labels?.[w.labels.bootstrapping], 'rbac-defaults');
        assert.deepEqual(rulesIn(await access.clusterRole('system:monitoring')), []);
        assert.equal(((await admin.get(bindingPath)).body['subjects'] as unknown[]).length, 1);
        assert.equal(
          (await admin.get(access.path('clusterrolebindings', '', 'system:monitoring'))).body['subjects'],
          undefined,
        );
        await access.clusterRole('system:heapster');
        const replaced = ok(await admin.get(access.path('clusterrolebindings', '', 'system:volume-scheduler')));
        assert.equal((replaced['roleRef'] as { name: string }).name, 'system:volume-scheduler');
      });
    });
  });
}

describe('two servers that start at once on an empty store', function () {
  this.timeout(90_000);

  it('have one policy between them, and each sees what the other grants', async () => {
    const etcd = await startEtcd();
    const servers = await Promise.all(
      [1, 2].map(() => TestServer.start({ store: 'etcd', etcdUrl: etcd.url, flags: flagsFor('kubernetes') })),
    );
    try {
      const [one, two] = servers as [TestServer, TestServer];
      for (const { client } of [one, two]) {
        const list = ok(await client.get('/apis/rbac.authorization.k8s.io/v1/clusterroles'));
        assert.equal(list.items.length, 67);
        ok(await client.get('/readyz'));
        assert.doesNotMatch(one.log + two.log, /brought in line/);
      }
      const [here, there] = [new Access(() => one, 'kubernetes'), new Access(() => two, 'kubernetes')];
      const user = await there.newUser();
      await here.bind(user.name, user.namespace, 'view');
      await eventually(async () =>
        (await user.client.get(configMapsIn(user.namespace))).code === 200 ? true : undefined,
      );
    } finally {
      await Promise.all(servers.map((server) => server.close()));
      await etcd.stop();
    }
  });
});
