import assert from 'node:assert/strict';
import type { StatusError } from '../../../../machinery/meta/status.js';
import { badRequest } from '../../../../machinery/meta/status.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { NAMESPACES } from '../../namespaces.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { ask, pod, PODS } from '../../testing/pods.js';
import { FIRST_ROUND, requestFor } from '../../testing/request.js';
import { ObjectsThere } from '../../testing/there.js';
import { namespaceAutoProvision } from './auto-provision.js';
import { namespaceExists } from './exists.js';
import { namespaceLifecycle as lifecycleOf, type NamespaceLifecycleDeps } from './lifecycle.js';

const namespace = (name: string, phase = 'Active'): Partial<ApiObject> => ({ metadata: { name }, status: { phase } });
const objects = new ObjectsThere()
  .put(NAMESPACES, namespace('ns'))
  .put(NAMESPACES, namespace('going', 'Terminating'))
  .put(NAMESPACES, namespace('new'), 'stored')
  .put(NAMESPACES, namespace('new-going', 'Terminating'), 'stored');

const A_NAMESPACE = { ...PODS, resource: 'namespaces', kind: 'Namespace' };
const REVIEW = { ...PODS, group: 'authorization.platform.io', resource: 'localsubjectaccessreviews', kind: 'Review' };
const inside = (name: string): ApiObject => pod({}, { namespace: name });
const update = (name: string): Partial<AdmissionRequest> => ({ operation: 'UPDATE', oldObject: inside(name) });
const deletion = (metadata: object): Partial<AdmissionRequest> => ({
  operation: 'DELETE',
  oldObject: pod({}, metadata),
});
const going = (name: string, of = 'going'): string =>
  `pods "${name}" is forbidden: unable to create new content in namespace ${of} because it is being terminated`;
const GONE = 'namespaces "gone" not found';

type Case = readonly [
  what: string,
  object: ApiObject | undefined,
  said: Partial<AdmissionRequest>,
  why: string,
  resource?: typeof PODS,
];

const check = (plugin: AdmissionPlugin, cases: readonly Case[]): void => {
  for (const [what, object, said, why, resource] of cases) {
    it(`${why === '' ? 'lets through' : 'refuses'} ${what}`, async () => {
      const { why: got, error } = await ask(plugin, object, said, resource);
      assert.equal(got, why);
      if (why !== '') assert.equal(error?.code, why === GONE ? 404 : 403);
    });
  }
};

const stored = (): never => assert.fail('nothing is stored here; see lifecycle-races.test.ts');
const namespaceLifecycle = ({ vocabulary }: Pick<NamespaceLifecycleDeps, 'vocabulary'>): AdmissionPlugin =>
  lifecycleOf({ vocabulary, objects: { present: objects.present.bind(objects), stored } });

describe('namespaceLifecycle()', () => {
  const words = vocabulary('platform');
  const plugin = namespaceLifecycle({ vocabulary: words });
  const named = (name: string, from = words): readonly [AdmissionPlugin, Partial<AdmissionRequest>] => [
    namespaceLifecycle({ vocabulary: from }),
    { operation: 'DELETE', oldObject: { ...namespace(name), apiVersion: 'v1', kind: 'Namespace' } as ApiObject },
  ];

  check(plugin, [
    ['what is created in a namespace', inside('ns'), {}, ''],
    ['what is created in one that only the store knows', inside('new'), {}, ''],
    ['what is created in none that is there', inside('gone'), {}, GONE],
    ['what is created in one that is going', inside('going'), {}, going('p')],
    ['the same where only the store knows', inside('new-going'), {}, going('p', 'new-going')],
    ['a name that the server would make', pod({}, { name: '', generateName: 'p-', namespace: 'going' }), {}, going('p-')], // prettier-ignore
    ['a sub-resource that is created in one that is going', inside('going'), { subresource: 'eviction' }, going('p')],
    ['a change in one that is going', inside('going'), update('going'), ''],
    ['a change in one that is not there', inside('gone'), update('gone'), GONE],
    ['a deletion in one that is going', undefined, deletion({ namespace: 'going' }), ''],
    ['a deletion in one that is not there', undefined, deletion({ namespace: 'gone' }), ''],
    ['a deletion of something else of that name', undefined, deletion({ name: 'default', namespace: 'ns' }), ''],
    ['a connection', inside('gone'), { operation: 'CONNECT' }, ''],
    ['what is in no namespace', pod({}, { namespace: '' }), {}, ''],
    ['a review about a namespace that is not there', inside('gone'), {}, '', REVIEW],
  ]);

  for (const name of ['default', 'platform-system', 'platform-public']) {
    it(`keeps ${name}`, async () => {
      const { why } = await ask(plugin, undefined, named(name)[1], A_NAMESPACE);
      assert.equal(why, `namespaces "${name}" is forbidden: this namespace may not be deleted`);
    });
  }

  it('lets other namespaces go', async () => {
    assert.equal((await ask(...([plugin, undefined, named('platform-node-lease')[1], A_NAMESPACE] as const))).why, '');
  });

  it('speaks the words of the installation', async () => {
    const kept = [];
    for (const name of ['kube-system', 'platform-system']) {
      const [other, said] = named(name, vocabulary('kubernetes'));
      kept.push((await ask(other, undefined, said, A_NAMESPACE)).why !== '');
    }
    assert.deepEqual(kept, [true, false]);
  });

  it('says why in a cause, and all in the first phase', () => {
    const request = requestFor(PODS, inside('going'));
    assert.throws(
      () => plugin.mutate?.(request, FIRST_ROUND),
      ({ details }: StatusError) => {
        const message = 'namespace going is being terminated';
        const cause = { reason: 'NamespaceTerminating', message, field: 'metadata.namespace' };
        assert.deepEqual(details, { name: 'p', kind: 'pods', causes: [cause] });
        return true;
      },
    );
  });
});

describe('namespaceExists()', () => {
  check(namespaceExists({ objects }), [
    ['what is created in a namespace', inside('ns'), {}, ''],
    ['what is created in one that only the store knows', inside('new'), {}, ''],
    ['what is created in one that is not there', inside('gone'), {}, GONE],
    ['a change in one that is not there', inside('gone'), update('gone'), GONE],
    ['a deletion in one that is not there', undefined, deletion({ namespace: 'gone' }), GONE],
    ['a connection', inside('gone'), { operation: 'CONNECT' }, ''],
    ['what is in no namespace', pod({}, { namespace: '' }), {}, ''],
  ]);
});

describe('namespaceAutoProvision()', () => {
  for (const [what, object, said, made] of [
    ['makes a namespace that is not there', inside('gone'), {}, ['gone']],
    ['makes it for a sub-resource, too', inside('gone'), { subresource: 'token' }, ['gone']],
    ['leaves one that is there', inside('ns'), {}, []],
    ['leaves one that only the store knows', inside('new'), {}, []],
    ['makes none for a rehearsal', inside('gone'), { dryRun: true }, []],
    ['makes none for a change', inside('gone'), update('gone'), []],
    ['makes none for what is in none', pod({}, { namespace: '' }), {}, []],
  ] as const) {
    it(what, async () => {
      const names: string[] = [];
      const makeNamespace = (name: string): Promise<void> => Promise.resolve(void names.push(name));
      assert.equal((await ask(namespaceAutoProvision({ objects, makeNamespace }), object, said)).why, '');
      assert.deepEqual(names, made);
    });
  }

  it('refuses what cannot be made', async () => {
    const failing = (err: Error): AdmissionPlugin =>
      namespaceAutoProvision({ objects, makeNamespace: () => Promise.reject(err) });
    const { why } = await ask(failing(badRequest('no such name')), inside('gone'));
    assert.equal(why, 'pods "p" is forbidden: no such name');
    await assert.rejects(ask(failing(new Error('broken')), inside('gone')), /^Error: broken$/);
  });
});
