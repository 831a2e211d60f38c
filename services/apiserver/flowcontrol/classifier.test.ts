import assert from 'node:assert/strict';
import type { PathRequest, ResourceRequest, UserInfo } from '../request/request.js';
import { ALL_RESOURCES, allOf, aGroup, anAccount, ask, askPath, aUser, FlowScene, level, schema, user } from './testing/flow-scene.js'; // prettier-ignore

type Case = readonly [what: string, who: UserInfo, asked: ResourceRequest | PathRequest];

const alice = user('alice', 'people', 'system:authenticated');

/** One schema with one rule; requests that it takes, and requests that it leaves to the rest. */
function rule(title: string, members: object, takes: readonly Case[], leaves: readonly Case[]): void {
  describe(title, () => {
    const scene = new FlowScene(100);
    scene.put(level('l'), schema('mine', 'l', { rules: [members] }));
    for (const [what, who, asked] of leaves) {
      it(`leaves ${what}`, () => assert.equal(scene.schemaOf(who, asked), 'catch-all'));
    }
    for (const [what, who, asked] of takes) {
      it(`takes ${what}`, () => assert.equal(scene.schemaOf(who, asked), 'mine'));
    }
  });
}

const get = ask('get', 'pods', 'n');
const account = user('system:serviceaccount:n:a', 'system:serviceaccounts', 'system:serviceaccounts:n');

describe('Classifier', () => {
  rule(
    'a user',
    allOf(aUser('alice')),
    [['her requests', alice, get]],
    [
      ['those of others', user('bob'), get],
      ['those of a group of that name', user('bob', 'alice'), get],
      ['those of a longer name', user('alice2'), get],
    ],
  );
  rule(
    'a group',
    allOf(aGroup('people')),
    [
      ['those of its members', alice, get],
      ['paths that they ask for', alice, askPath('get', '/version')],
    ],
    [
      ['those of a user of that name', user('people'), get],
      ['those of nobody', user('', ''), get],
    ],
  );
  for (const subject of [aUser('*'), aGroup('*')]) {
    rule(
      `everybody (${JSON.stringify(subject)})`,
      allOf(subject),
      [
        ['anybody', user('bob'), get],
        ['somebody without a name', user(''), get],
      ],
      [],
    );
  }
  rule(
    'a service account',
    allOf(anAccount('n', 'a')),
    [['its requests', account, get]],
    [
      ['those of another one', user('system:serviceaccount:n:b'), get],
      ['those of its name elsewhere', user('system:serviceaccount:m:a'), get],
    ],
  );
  rule(
    'all service accounts of a namespace',
    allOf(anAccount('n', '*')),
    [
      ['those of one', account, get],
      ['those of another one', user('system:serviceaccount:n:b'), get],
    ],
    [
      ['those of one elsewhere', user('system:serviceaccount:nn:a'), get],
      ['a name that goes on', user('system:serviceaccount:n:a:b'), get],
      ['a name that ends early', user('system:serviceaccount:n'), get],
      ['a name without an account', user('system:serviceaccount:n:'), get],
      ['a user whose name is an asterisk', user('*'), get],
    ],
  );
  rule(
    'verbs, groups and resources',
    {
      subjects: [aUser('alice')],
      resourceRules: [
        { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'nodes/status'], namespaces: ['n'] },
      ],
    },
    [
      ['what it names', alice, get],
      ['another verb of it', alice, ask('list', 'pods', 'n')],
      ['another group of it', alice, ask('get', 'pods', 'n', 'apps')],
      ['a sub-resource that it names', alice, ask('get', 'nodes/status', 'n')],
    ],
    [
      ['other verbs', alice, ask('delete', 'pods', 'n')],
      ['other groups', alice, ask('get', 'pods', 'n', 'batch')],
      ['other resources', alice, ask('get', 'secrets', 'n')],
      ['sub-resources of what it names', alice, ask('get', 'pods/status', 'n')],
      ['the resource of a sub-resource that it names', alice, ask('get', 'nodes', 'n')],
      ['other namespaces', alice, ask('get', 'pods', 'm')],
      ['all namespaces at once', alice, ask('list', 'pods')],
      ['paths', alice, askPath('get', '/pods')],
      ['other users', user('bob'), get],
    ],
  );
  rule(
    'the scope of the cluster',
    { subjects: [aUser('alice')], resourceRules: [{ ...ALL_RESOURCES, namespaces: [] }] },
    [
      ['what lies in no namespace', alice, ask('get', 'nodes')],
      ['all namespaces at once', alice, ask('list', 'pods')],
      ['every sub-resource', alice, ask('get', 'nodes/proxy')],
    ],
    [['what lies in one', alice, get]],
  );
  rule(
    'all namespaces',
    { subjects: [aUser('alice')], resourceRules: [{ ...ALL_RESOURCES, clusterScope: false }] },
    [['what lies in one', alice, get]],
    [['what lies in none', alice, ask('get', 'nodes')]],
  );
  rule(
    'paths',
    { subjects: [aUser('alice')], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/logs/*'] }] },
    [
      ['one that it names', alice, askPath('get', '/healthz')],
      ['one below one that it names', alice, askPath('get', '/logs/a/b')],
    ],
    [
      ['other verbs', alice, askPath('post', '/healthz')],
      ['one below one without an asterisk', alice, askPath('get', '/healthz/etcd')],
      ['one beside', alice, askPath('get', '/logsmore')],
      ['resources', alice, get],
    ],
  );
  rule('nothing, as nobody knows whom', { subjects: [], resourceRules: [ALL_RESOURCES] }, [], [['all', alice, get]]);

  describe('several schemas', () => {
    const everything = (
      precedence: number,
      ...subjects: readonly object[]
    ): { precedence: number; rules: object[] } => ({
      precedence,
      rules: [allOf(...subjects)],
    });

    it('has the least precedence count, and the first name where it is the same', () => {
      const scene = new FlowScene(100);
      scene.put(level('l'), schema('c', 'l', everything(50, aUser('*'))), schema('b', 'l', everything(50, aUser('*'))));
      assert.equal(scene.schemaOf(alice, get), 'b');
      scene.put(schema('z', 'l', everything(49, aGroup('people'))));
      assert.equal(scene.schemaOf(alice, get), 'z');
      assert.equal(scene.schemaOf(user('bob'), get), 'b');
    });

    it('takes the later rule of an earlier schema before the first of a later one', () => {
      const scene = new FlowScene(100);
      const first = { precedence: 10, rules: [{ subjects: [aUser('alice')] }, allOf(aGroup('people'))] };
      scene.put(level('l'), schema('first', 'l', first), schema('second', 'l', everything(20, aUser('alice'))));
      assert.equal(scene.schemaOf(alice, get), 'first');
    });

    it('tells the same user the same, and learns of changes at once', () => {
      const scene = new FlowScene(100);
      const mine = schema('mine', 'l', everything(10, aUser('alice')));
      scene.put(level('l'), mine);
      for (let i = 0; i < 3; i++) assert.equal(scene.schemaOf(alice, get), 'mine');
      scene.remove(mine);
      assert.equal(scene.schemaOf(alice, get), 'catch-all');
      scene.put(mine);
      assert.equal(scene.schemaOf(alice, get), 'mine');
    });

    it('keeps no more users than its bound, and tells all of them right', () => {
      const scene = new FlowScene(100);
      scene.put(level('l'), schema('mine', 'l', everything(10, aUser('alice'))));
      for (let i = 0; i < 10_001; i++) assert.equal(scene.schemaOf(user(`u${i}`), get), 'catch-all');
      assert.equal(scene.schemaOf(alice, get), 'mine');
    });
  });
});
