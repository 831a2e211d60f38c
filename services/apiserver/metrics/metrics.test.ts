import assert from 'node:assert/strict';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { PathRequest, RequestVerb, ResourceRequest } from '../request/request.js';
import { createMetrics } from './metrics.js';

const CONFIG_MAPS: ResourceDeclaration = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
  virtual: false,
  type: 'core/v1.ConfigMap',
  storage: { group: '', version: 'v1' },
  servedByDefault: true,
  selectableFields: [],
  nameRule: '',
  unconditionalUpdate: true,
  createOnUpdate: false,
};

const request = (verb: RequestVerb, over: Partial<ResourceRequest> = {}): ResourceRequest => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  namespace: 'default',
  resource: 'configmaps',
  subresource: '',
  name: '',
  watchPath: false,
  declaration: CONFIG_MAPS,
  subresourceDeclaration: undefined,
  ...over,
});
const pathRequest = (path: string, verb = 'get'): PathRequest => ({ kind: 'path', verb, path });

/** The sample lines of one metric that have all of `parts`. */
function lines(text: string, metric: string, ...parts: string[]): string[] {
  return text.split('\n').filter((l) => l.startsWith(`${metric}{`) && parts.every((p) => l.includes(p)));
}

describe('createMetrics()', () => {
  describe('requests', () => {
    it('counts by verb, resource, scope and code', async () => {
      const metrics = createMetrics();
      metrics.requests.started(request('list'))(200);
      metrics.requests.started(request('list'))(200);
      metrics.requests.started(request('get', { name: 'a' }))(404);
      const { body } = await metrics.render();
      const total = lines(body, 'apiserver_request_total');
      assert.deepEqual(total, [
        'apiserver_request_total{verb="LIST",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver",code="200"} 2',
        'apiserver_request_total{verb="GET",group="",version="v1",resource="configmaps",subresource="",scope="resource",component="apiserver",code="404"} 1',
      ]);
    });

    it('keeps its counts from one scrape to the next', async () => {
      const metrics = createMetrics();
      metrics.requests.started(request('create'))(201);
      await metrics.render();
      metrics.requests.started(request('create'))(201);
      const { body } = await metrics.render();
      assert.match(lines(body, 'apiserver_request_total', 'verb="POST"')[0] ?? '', / 2$/);
    });

    it('fills the histogram with rising buckets that end in the count', async () => {
      const metrics = createMetrics();
      metrics.requests.started(request('get', { name: 'a' }))(200);
      const { body } = await metrics.render();
      assert.match(lines(body, 'apiserver_request_duration_seconds_bucket', 'le="60"')[0] ?? '', / 1$/);
      assert.match(lines(body, 'apiserver_request_duration_seconds_bucket', 'le="+Inf"')[0] ?? '', / 1$/);
      assert.match(lines(body, 'apiserver_request_duration_seconds_count', 'verb="GET"')[0] ?? '', / 1$/);
    });

    it('counts everything that is not served under one name', async () => {
      const metrics = createMetrics();
      for (const resource of ['a', 'b', 'c']) {
        metrics.requests.started(request('list', { group: resource, resource, declaration: undefined }))(404);
      }
      metrics.requests.started(request('get', { name: 'x', subresource: 'madeup' }))(404);
      const { body } = await metrics.render();
      assert.match(lines(body, 'apiserver_request_total', 'resource="other"', 'verb="LIST"')[0] ?? '', / 3$/);
      assert.equal(lines(body, 'apiserver_request_total').length, 2);
      assert.ok(!body.includes('madeup'));
    });

    it('counts paths by where they begin', async () => {
      const metrics = createMetrics();
      for (const path of ['/livez/ping', '/livez', '/livezoo', '/x/1', '/x/2', '/', '/apis/apps']) {
        metrics.requests.started(pathRequest(path))(200);
      }
      metrics.requests.started(pathRequest('/', 'propfind'))(405);
      const { body } = await metrics.render();
      const counted = lines(body, 'apiserver_request_total').map((l) =>
        l.replace(/.*verb="(\w+)".*subresource="([^"]*)".* (\d+)$/, '$1 $2 $3'),
      );
      assert.deepEqual(counted.sort(), ['GET / 1', 'GET /apis 1', 'GET /livez 2', 'GET other 3', 'other / 1']);
    });

    it('tells what is under way, watches by themselves', async () => {
      const metrics = createMetrics();
      const endGet = metrics.requests.started(request('get', { name: 'a' }));
      const endWatch = metrics.requests.started(request('watch'));
      metrics.requests.started(request('update', { name: 'a' }));
      const { body } = await metrics.render();
      assert.match(body, /^apiserver_current_inflight_requests\{request_kind="mutating"\} 1$/m);
      assert.match(body, /^apiserver_current_inflight_requests\{request_kind="readOnly"\} 1$/m);
      assert.match(lines(body, 'apiserver_longrunning_requests', 'verb="WATCH"')[0] ?? '', / 1$/);
      endGet(200);
      endWatch(200);
      const after = (await metrics.render()).body;
      assert.match(after, /^apiserver_current_inflight_requests\{request_kind="readOnly"\} 0$/m);
      assert.match(lines(after, 'apiserver_longrunning_requests', 'verb="WATCH"')[0] ?? '', / 0$/);
    });

    it('makes no more series than its bound', async () => {
      const metrics = createMetrics();
      for (let i = 0; i < 10_050; i++) {
        const resource = `r${i}`;
        metrics.requests.started(request('list', { resource, declaration: { ...CONFIG_MAPS, resource } }))(200);
      }
      const { body } = await metrics.render();
      assert.equal(lines(body, 'apiserver_request_total').length, 10_001);
      assert.match(lines(body, 'apiserver_request_total', 'resource="other"')[0] ?? '', / 50$/);
    });
  });

  describe('watches', () => {
    it('counts events by kind, also through a declaration that was replaced', async () => {
      const metrics = createMetrics();
      metrics.watches.sent(CONFIG_MAPS, 3);
      metrics.watches.sent({ ...CONFIG_MAPS }, 2);
      const { body } = await metrics.render();
      assert.match(body, /^apiserver_watch_events_total\{group="",version="v1",kind="ConfigMap"\} 5$/m);
    });
  });

  describe('store', () => {
    it('times calls by operation and type', async () => {
      const metrics = createMetrics();
      metrics.store.observe('get', 0.007, 'configmaps');
      metrics.store.observe('get', 90, 'configmaps');
      const { body } = await metrics.render();
      const at = (le: string): string =>
        lines(body, 'etcd_request_duration_seconds_bucket', `le="${le}"`, 'operation="get"', 'type="configmaps"')[0] ??
        '';
      assert.match(at('0.005'), / 0$/);
      assert.match(at('0.01'), / 1$/);
      assert.match(at('60'), / 1$/);
      assert.match(at('+Inf'), / 2$/);
    });

    it('asks for the numbers of objects at each scrape', async () => {
      const metrics = createMetrics();
      let objects = 1;
      metrics.store.countObjectsBy(() => [['deployments.apps', objects]]);
      assert.match((await metrics.render()).body, /^apiserver_storage_objects\{resource="deployments.apps"\} 1$/m);
      objects = 5;
      assert.match((await metrics.render()).body, /^apiserver_storage_objects\{resource="deployments.apps"\} 5$/m);
    });
  });

  describe('render()', () => {
    it('has process and event-loop metrics, and a registry per server', async () => {
      const [one, other] = [createMetrics(), createMetrics()];
      one.requests.started(request('list'))(200);
      const { contentType, body } = await other.render();
      assert.match(contentType, /^text\/plain; version=0\.0\.4/);
      assert.match(body, /^process_resident_memory_bytes /m);
      assert.match(body, /^nodejs_eventloop_lag_seconds /m);
      assert.equal(lines(body, 'apiserver_request_total').length, 0);
    });

    it('names every metric even before anything was counted', async () => {
      const { body } = await createMetrics().render();
      for (const name of [
        'apiserver_request_total',
        'apiserver_request_duration_seconds',
        'apiserver_current_inflight_requests',
        'apiserver_longrunning_requests',
        'apiserver_watch_events_total',
        'apiserver_storage_objects',
        'etcd_request_duration_seconds',
      ]) {
        assert.match(body, new RegExp(`^# TYPE ${name} `, 'm'));
      }
    });
  });
});
