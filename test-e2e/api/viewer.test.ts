import assert from 'node:assert/strict';
import type { Client, Reply } from './tools/client.js';
import { created, newNamespace, ok } from './tools/objects.js';
import { onServer } from './tools/server.js';

const RBAC = 'rbac.authorization.platform.io';
const USER = 'vera';

interface Offered {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

const METHODS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
const OF_COLLECTIONS: ReadonlySet<string> = new Set(['list', 'create', 'deletecollection']);
/** What everybody with a name may ask about himself. */
const SELF = /^selfsubject/;

/** Every resource and sub-resource of every version. */
async function discovered(client: Client): Promise<Offered[]> {
  const groups = ok(await client.get('/apis'))['groups'] as { versions: { groupVersion: string }[] }[];
  const versions = ['v1', ...groups.flatMap((group) => group.versions.map((v) => v.groupVersion))];
  const lists = await Promise.all(
    versions.map(async (groupVersion) => {
      const [version = '', group = ''] = groupVersion.split('/').reverse();
      const { resources } = ok(await client.get(group === '' ? '/api/v1' : `/apis/${groupVersion}`)) as unknown as {
        resources: Omit<Offered, 'group' | 'version'>[];
      };
      return resources.map((resource) => ({ ...resource, group, version }));
    }),
  );
  return lists.flat();
}

function pathOf({ group, version, name, namespaced }: Offered, verb: string, namespace: string): string {
  const [resource = '', subresource = ''] = name.split('/');
  const root = group === '' ? '/api/v1' : `/apis/${group}/${version}`;
  const place = namespaced ? `/namespaces/${namespace}` : '';
  const collection = `${root}${place}/${resource}`;
  if (verb === 'watch') return `${collection}?watch=1&resourceVersion=none`; // refused at once, but to those who may not sooner
  if (subresource === '' && OF_COLLECTIONS.has(verb)) return collection;
  return `${collection}/no-such-object${subresource === '' ? '' : `/${subresource}`}`;
}

const covers = (rules: readonly Rule[], { group, name }: Offered, verb: string): boolean =>
  rules.some(
    ({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.includes(group) && resources.includes(name) && verbs.includes(verb),
  );

onServer('a user whose only right is to view one namespace', { store: 'embedded' }, (server) => {
  let namespace: string;
  let offered: readonly Offered[];
  let rules: readonly Rule[];
  const as = (method: string, path: string): Promise<Reply> =>
    server().client.request(method, path, {
      headers: { 'impersonate-user': USER },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
    });

  before(async () => {
    const { client } = server();
    namespace = await newNamespace(client);
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'view' };
    const subjects = [{ apiGroup: RBAC, kind: 'User', name: USER }];
    const binding = { apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata: { name: 'v' }, roleRef, subjects };
    created(await client.post(`/apis/${RBAC}/v1/namespaces/${namespace}/rolebindings`, binding));
    offered = await discovered(client);
    rules = ok(await client.get(`/apis/${RBAC}/v1/clusterroles/view`))['rules'] as Rule[];
    assert.ok(rules.length > 5);
  });

  it('may do there what the role says, and nothing else of all that is offered', async () => {
    const tried = { allowed: 0, refused: 0 };
    for (const resource of offered) {
      for (const verb of resource.verbs) {
        const expected = SELF.test(resource.name) || (resource.namespaced && covers(rules, resource, verb));
        const { code, text } = await as(METHODS[verb] ?? '', pathOf(resource, verb, namespace));
        const what = `${verb} ${resource.name} of ${resource.group}/${resource.version}: ${code} ${text}`;
        assert.equal(code === 403, !expected, what);
        assert.ok(code < 500, what);
        tried[expected ? 'allowed' : 'refused']++;
      }
    }
    assert.ok(tried.allowed > 60 && tried.refused > 300, JSON.stringify(tried));
  });

  it('may do nothing elsewhere', async () => {
    for (const resource of offered.filter(({ namespaced }) => namespaced)) {
      for (const verb of resource.verbs) {
        if (SELF.test(resource.name)) continue;
        const { code } = await as(METHODS[verb] ?? '', pathOf(resource, verb, 'default'));
        assert.equal(code, 403, `${verb} ${resource.name}`);
      }
      if (resource.verbs.includes('list')) {
        const everywhere = pathOf(resource, 'list', '').replace('/namespaces/', '');
        assert.equal((await as('GET', everywhere)).code, 403, everywhere);
      }
    }
  });

  it('may look at what there is and whether the server is well, and at nothing more outside of resources', async () => {
    const paths: readonly (readonly [path: string, code: number])[] = [
      ['/api', 200],
      ['/apis', 200],
      ['/apis/apps/v1', 200],
      ['/openapi/v2', 200],
      ['/openapi/v3', 200],
      ['/version', 200],
      ['/healthz', 200],
      ['/livez', 200],
      ['/readyz', 200],
      ['/metrics', 403],
      ['/readyz/etcd', 403],
      ['/logs/', 403],
      ['/', 403],
    ];
    for (const [path, code] of paths) assert.equal((await as('GET', path)).code, code, path);
  });
});
