import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { namesIn } from './tools/document.js';
import { configMapsIn, createConfigMap, created, newNamespace, ok, pod, refused } from './tools/objects.js';
import { onBothStores, type TestServer } from './tools/server.js';
import { SIGNING_REQUEST } from './tools/signing-request.js';

type Server = () => TestServer;

const words = vocabulary('platform');

const LABELLED = { a: { app: 'x', tier: 'front', n: '5' }, b: { app: 'y', n: '10' }, c: { tier: 'back' }, d: {} };
const LABEL_SELECTORS: readonly (readonly [string, string])[] = [
  ['app=x', 'a'],
  ['app==x', 'a'],
  ['app!=x', 'bcd'],
  ['app in (x,y)', 'ab'],
  ['app in (z)', ''],
  ['app notin (x)', 'bcd'],
  ['app', 'ab'],
  ['!app', 'cd'],
  ['app,tier', 'a'],
  ['app=x,tier=front', 'a'],
  ['app=x,tier=back', ''],
  ['!app,!tier', 'd'],
  ['n>5', 'b'],
  ['n<10', 'a'],
  ['app=', ''],
  ['app in (x,),tier', 'a'],
  [' app = x ', 'a'],
  ['', 'abcd'],
];

function labelSelectors(server: Server): void {
  let namespace = '';
  before(async () => {
    namespace = await newNamespace(server().client);
    for (const [name, labels] of Object.entries(LABELLED))
      await createConfigMap(server().client, namespace, name, { labels });
  });
  for (const [selector, names] of LABEL_SELECTORS) {
    it(`"${selector}" finds ${names === '' ? 'nothing' : names}`, async () => {
      const path = `${configMapsIn(namespace)}?labelSelector=${encodeURIComponent(selector)}`;
      assert.equal(namesIn(ok(await server().client.get(path))).join(''), names);
    });
  }
}

/** Collection, body, field selectors that find it, and those that do not. */
const FIELD_SELECTORS: readonly (readonly [string, object, readonly string[], readonly string[]])[] = [
  [
    '/api/v1/namespaces/NS/pods',
    pod('x', { nodeName: 'n1', restartPolicy: 'Never', schedulerName: 's', serviceAccountName: 'sa' }),
    [
      'metadata.name=x',
      'metadata.namespace=NS',
      'spec.nodeName=n1',
      'spec.host=n1',
      'spec.restartPolicy==Never',
      'spec.schedulerName=s,spec.serviceAccountName=sa',
      'status.phase=Pending',
      'status.phase!=Running',
      'status.podIP=',
      'status.nominatedNodeName=',
    ],
    [
      'metadata.name=y',
      'spec.nodeName!=n1',
      'status.phase=Running',
      'status.podIP=1.2.3.4',
      'metadata.namespace=other',
    ],
  ],
  [
    '/api/v1/nodes',
    { metadata: { name: 'NS' } },
    ['spec.unschedulable=false,metadata.name=NS'],
    ['spec.unschedulable=true'],
  ],
  ['/api/v1/namespaces/NS/secrets', { metadata: { name: 'x' } }, ['type=Opaque'], ['type=other']],
  [
    '/api/v1/namespaces/NS/replicationcontrollers',
    { metadata: { name: 'x' }, spec: { replicas: 1, selector: { a: 'b' }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, // prettier-ignore
    ['status.replicas=0'],
    ['status.replicas=1'],
  ],
  [
    '/api/v1/namespaces/NS/events',
    { metadata: { name: 'x' }, reason: 'R', type: 'Normal', source: { component: 'k' }, involvedObject: { kind: 'Pod', name: 'p', namespace: 'NS', uid: 'u' } }, // prettier-ignore
    ['involvedObject.kind=Pod,involvedObject.name=p', 'involvedObject.uid=u', 'reason=R,type=Normal', 'source=k'],
    ['involvedObject.kind=Node', 'reason=S', 'type!=Normal'],
  ],
  ['/apis/batch/v1/namespaces/NS/jobs', { metadata: { name: 'x' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } }, ['status.successful=0'], ['status.successful=1']], // prettier-ignore
  [
    `/apis/${words.translate('certificates.platform.io')}/v1/certificatesigningrequests`,
    {
      metadata: { name: 'NS' },
      spec: { signerName: 'example.com/s', request: SIGNING_REQUEST, usages: ['client auth'] },
    },
    ['spec.signerName=example.com/s,metadata.name=NS'],
    ['spec.signerName=example.com/other'],
  ],
];

function fieldSelectors(server: Server): void {
  for (const [collection, body, found, notFound] of FIELD_SELECTORS) {
    it(`select ${collection} by ${found.concat(notFound).length} selectors`, async () => {
      const { client } = server();
      const namespace = await newNamespace(client);
      const here = (text: string): string => text.replaceAll('NS', namespace);
      const path = here(collection);
      const { name } = created(await client.post(path, here(JSON.stringify(body)))).metadata;
      const select = async (selector: string): Promise<string[]> =>
        namesIn(ok(await client.get(`${path}?fieldSelector=${encodeURIComponent(here(selector))}`)));
      for (const selector of found) assert.deepEqual(await select(selector), [name], selector);
      for (const selector of notFound) assert.ok(!(await select(selector)).includes(name), selector);
      refused(await client.get(`${path}?fieldSelector=spec.nonsense%3Dx`), 400, 'BadRequest', /spec\.nonsense/);
    });
  }
}

onBothStores('selectors', [], (server) => {
  describe('label selectors', () => labelSelectors(server));
  describe('field selectors', () => fieldSelectors(server));
});
