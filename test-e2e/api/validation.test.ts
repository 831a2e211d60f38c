import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { created, newNamespace, ok, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const { groups } = vocabulary('platform');

/** Each kind has tests of its own where it is checked: here is what the server adds. */
function validation(server: Server): void {
  it('lets a job look for the pods that it makes, and keep its template', async () => {
    const { client } = server();
    const path = `/apis/batch/v1/namespaces/${await newNamespace(client)}/jobs`;
    const containers = [{ name: 'c', image: 'i:1' }];
    const body = {
      metadata: { generateName: 'pi-' },
      spec: { template: { spec: { restartPolicy: 'Never', containers } } },
    };
    const job = created(await client.post(path, body));
    const { name, uid } = job.metadata;
    assert.deepEqual(job.spec['selector'], { matchLabels: { 'controller-uid': uid } });
    const { metadata } = job.spec['template'] as { metadata: { labels: unknown } };
    assert.deepEqual(metadata.labels, { 'controller-uid': uid, 'job-name': name });
    ok(await client.patch(`${path}/${name}`, { spec: { parallelism: 2 } }));
    const other = { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } };
    refused(await client.patch(`${path}/${name}`, other), 422, 'Invalid', /spec\.template: .*field is immutable/);
  });

  it('asks more of an event where events are at home', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const about = { kind: 'Pod', name: 'p', namespace };
    const time = '2024-01-01T00:00:00.000000Z';
    const home = `/apis/${groups.events}/v1/namespaces/${namespace}/events`;
    const strict = { metadata: { name: 'e' }, regarding: about, eventTime: time, type: 'Normal', reason: 'R' };
    const refusal = refused(await client.post(home, { ...strict, deprecatedCount: 2 }), 422, 'Invalid');
    const fields = new Set(refusal.details.causes?.map(({ field }) => field));
    assert.deepEqual([...fields], ['reportingController', 'reportingInstance', 'action', 'count']);
    const reporter = { action: 'A', reportingController: 'example.com/c', reportingInstance: 'c-0' };
    created(await client.post(home, { ...strict, ...reporter }));
    refused(await client.patch(`${home}/e`, { note: 'other' }), 422, 'Invalid', /message: .*field is immutable/);
    const core = `/api/v1/namespaces/${namespace}/events`;
    ok(await client.patch(`${core}/e`, { message: 'other' }));
    created(await client.post(core, { metadata: { name: 'f' }, involvedObject: about, count: 2, type: 'Odd' }));
  });

  it('says in its own words what a kind keeps', async () => {
    const { client } = server();
    const path = `/apis/${groups.rbac}/v1/namespaces/${await newNamespace(client)}/rolebindings`;
    created(await client.post(path, { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' } }));
    const change = { roleRef: { name: 'other' } };
    refused(await client.patch(`${path}/b`, change), 422, 'Invalid', /roleRef: .*: cannot change roleRef$/);
  });
}

onBothStores('validation', [], validation);
