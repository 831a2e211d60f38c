import assert from 'node:assert/strict';
import type { ServedApi } from '../registry/served.js';
import type { ApiService } from './api-service.js';
import { judgeLocal, localServices, LOCAL, type LocalService } from './local-services.js';

const label = 'automanaged';
const group = (name: string, ...versions: string[]): ServedApi['groups'][number] => ({
  name,
  versions: versions.map((version) => ({ version, resources: [] })),
});
const wanted: LocalService = {
  name: 'v1.a.b',
  upkept: 'true',
  spec: { group: 'a.b', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
};
const service = (more: object, labels?: Record<string, string>): ApiService => ({
  kind: 'APIService',
  apiVersion: 'v1',
  metadata: { name: 'v1.a.b', ...(labels === undefined ? {} : { labels }) },
  ...more,
});
const available = { conditions: [{ type: 'Available', lastTransitionTime: 'then', ...LOCAL }] };
const remote = { service: { namespace: 'n', name: 's' } };
const judged = (it: ApiService, more: Partial<Parameters<typeof judgeLocal>[1]> = {}): ReturnType<typeof judgeLocal> =>
  judgeLocal(it, { wanted, atStart: false, label, ...more });

describe('localServices()', () => {
  it('are of every version that is served, with the priorities that clients know', () => {
    const api = { groups: [group('', 'v1'), group('apiregistration.k8s.io', 'v1'), group('autoscaling', 'v2', 'v1'), group('rbac.authorization.k8s.io', 'v1'), group('a.b', 'v1', 'v1beta1')] }; // prettier-ignore
    const builtIn = new Set(['/v1', 'autoscaling/v1', 'autoscaling/v2', 'rbac.authorization.k8s.io/v1']);
    const shown = [...localServices(api, builtIn)].map(([name, { upkept, spec }]) => [name, upkept, spec.groupPriorityMinimum, spec.versionPriority]); // prettier-ignore
    assert.deepEqual(shown, [
      ['v1.', 'onstart', 18_000, 1],
      ['v2.autoscaling', 'onstart', 17_500, 30],
      ['v1.autoscaling', 'onstart', 17_500, 15],
      ['v1.rbac.authorization.k8s.io', 'onstart', 17_000, 15],
      ['v1.a.b', 'true', 1_000, 100],
      ['v1beta1.a.b', 'true', 1_000, 100],
    ]);
  });
});

describe('judgeLocal()', () => {
  const inOrder = { spec: wanted.spec, status: available };

  it('leaves alone what is in order', () => {
    assert.equal(judged(service(inOrder, { [label]: 'true' })), undefined);
  });

  it('mends what was changed, and says that it is available', () => {
    const next = judged(service({ spec: { ...wanted.spec, versionPriority: 7, ...remote } }, { [label]: 'true', own: 'x' })); // prettier-ignore
    assert.ok(next !== undefined && next !== 'delete');
    assert.deepEqual(next.spec, wanted.spec);
    assert.deepEqual(next.metadata.labels, { [label]: 'true', own: 'x' });
    assert.equal(next.status?.conditions?.[0]?.reason, 'Local');
  });

  it('mends what is kept at the start at the start alone, and deletes it then when it is not served', () => {
    const onStart = { ...wanted, upkept: 'onstart' as const };
    const changed = service({ ...inOrder, spec: { ...wanted.spec, versionPriority: 7 } }, { [label]: 'onstart' });
    assert.equal(judged(changed, { wanted: onStart }), undefined);
    assert.notEqual(judged(changed, { wanted: onStart, atStart: true }), undefined);
    assert.equal(judged(changed, { wanted: undefined }), undefined);
    assert.equal(judged(changed, { wanted: undefined, atStart: true }), 'delete');
  });

  it('deletes what is kept always as soon as it is served no more', () => {
    assert.equal(judged(service(inOrder, { [label]: 'true' }), { wanted: undefined }), 'delete');
  });

  it('leaves what has no label to its owner, and says that what has no service is here', () => {
    const own = service({ spec: { ...wanted.spec, ...remote } });
    for (const it of [{}, { wanted: undefined }, { atStart: true }]) assert.equal(judged(own, it), undefined);
    const local = judged(service({ spec: { ...wanted.spec, versionPriority: 3 } }), { wanted: undefined });
    assert.ok(local !== undefined && local !== 'delete');
    assert.equal(local.spec?.versionPriority, 3);
    assert.equal(local.status?.conditions?.[0]?.status, 'True');
  });

  it('keeps the time of a condition whose status is the same', () => {
    const other = { conditions: [{ type: 'Other', status: 'True' }, { type: 'Available', lastTransitionTime: 'then', status: 'True', reason: 'Passed' }] }; // prettier-ignore
    const next = judged(service({ spec: wanted.spec, status: other }, { [label]: 'true' }));
    assert.ok(next !== undefined && next !== 'delete');
    assert.deepEqual(next.status?.conditions?.map((it) => [it.type, it.reason, it.lastTransitionTime]), [['Other', undefined, undefined], ['Available', 'Local', 'then']]); // prettier-ignore
  });
});
