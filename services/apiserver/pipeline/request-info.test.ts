import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { servedApi } from '../registry/runtime-config.js';
import type { ResourceRequest } from '../request/request.js';
import { originForm, parseRequest } from './request-info.js';

const { api } = servedApi(loadCatalog(vocabulary('platform')), new Map());
const parse = (method: string, url: string): ReturnType<typeof parseRequest> => {
  const [path = '', query = ''] = url.split('?');
  return parseRequest(api, method, path, new URLSearchParams(query));
};

/** method and path -> verb, namespace, resource, name, sub-resource */
const RESOURCES: readonly (readonly [string, string])[] = [
  ['GET /api/v1/configmaps', 'list  configmaps  '],
  ['GET /api/v1/namespaces/a/configmaps', 'list a configmaps  '],
  ['GET /api/v1/namespaces/a/configmaps/b', 'get a configmaps b '],
  ['HEAD /api/v1/namespaces/a/configmaps/b', 'get a configmaps b '],
  ['POST /api/v1/namespaces/a/configmaps', 'create a configmaps  '],
  ['PUT /api/v1/namespaces/a/configmaps/b', 'update a configmaps b '],
  ['PATCH /apis/apps/v1/namespaces/a/deployments/b/status', 'patch a deployments b status'],
  ['DELETE /api/v1/namespaces/a/configmaps/b', 'delete a configmaps b '],
  ['DELETE /api/v1/namespaces/a/configmaps', 'deletecollection a configmaps  '],
  ['GET /api/v1/namespaces', 'list  namespaces  '],
  ['GET /api/v1/namespaces/a', 'get a namespaces a '],
  ['DELETE /api/v1/namespaces/a', 'delete a namespaces a '],
  ['PUT /api/v1/namespaces/a/finalize', 'update a namespaces a finalize'],
  ['PUT /api/v1/namespaces/a/status', 'update a namespaces a status'],
  ['GET /api/v1/nodes/n', 'get  nodes n '],
  ['GET /api/v1/configmaps?watch=1', 'watch  configmaps  '],
  ['GET /api/v1/configmaps?watch', 'watch  configmaps  '],
  ['GET /api/v1/configmaps?watch=false', 'list  configmaps  '],
  ['GET /api/v1/configmaps?watch=0', 'list  configmaps  '],
  ['GET /api/v1/watch/namespaces/a/configmaps/b', 'watch a configmaps b '],
  ['GET /api/v1/watch/configmaps', 'watch  configmaps  '],
  ['GET /api/v1/namespaces/a/pods/b/log', 'get a pods b log'],
  ['POST /api/v1/namespaces/a/pods/b/exec?watch=1', 'create a pods b exec'],
  ['OPTIONS /api/v1/namespaces/a/pods/b/proxy', 'options a pods b proxy'],
  ['GET /api/v1/namespaces/a/pods/b/proxy/some/path', 'get a pods b proxy'],
  ['HEAD /api/v1/namespaces/a/services/https:b:1/proxy/', 'get a services https:b:1 proxy'],
  ['PUT /api/v1/nodes/n:80/proxy/%ff/%zz//%00', 'update  nodes n:80 proxy'],
  ['GET /api/v1/namespaces/proxy/pods/b%3A1/status', 'get proxy pods b:1 status'],
  ['GET /api/v1/namespaces/a%2Fb/configmaps/c', 'get a/b configmaps c '],
  ['GET /api/v1/namespaces/a/', 'get a namespaces a '],
  ['GET /api/v1/namespaces/a/configmaps/', 'list a configmaps  '],
  ['GET /api/v1/nodes/n/status/', 'get  nodes n status'],
  ['GET /api/v1/namespaces//pods', 'list  pods  '],
  ['GET /api/v1/watch/namespaces/proxy/configmaps/b', 'watch proxy configmaps b '],
  ['GET /apis/apps/v1/watch/namespaces/proxy/deployments', 'watch proxy deployments  '],
  ['DELETE /api/v1/watch/namespaces/a/configmaps/b', 'delete a configmaps b '],
  ['BREW /api/v1/namespaces/a/configmaps/b', 'brew a configmaps b '],
  ['constructor /api/v1/configmaps', 'constructor  configmaps  '],
  ['toString /api/v1/configmaps', 'tostring  configmaps  '],
  ['__proto__ /api/v1/namespaces/a/pods/b/proxy', '__proto__ a pods b proxy'],
];

describe('parseRequest()', () => {
  for (const [request, expected] of RESOURCES) {
    it(`reads ${request}`, () => {
      const [method = '', url = ''] = request.split(' ');
      const info = parse(method, url) as ResourceRequest;
      assert.equal(info.kind, 'resource');
      assert.equal([info.verb, info.namespace, info.resource, info.name, info.subresource].join(' '), expected);
      assert.ok(info.declaration !== undefined, 'served');
    });
  }

  for (const url of [
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/healthz',
    '/openapi/v3/apis/apps/v1',
  ]) {
    it(`leaves ${url} to the routes`, () => assert.equal(parse('GET', url).kind, 'path'));
  }

  it('leaves resources that are not served undeclared', () => {
    const info = parse('GET', '/api/v1/nonsense') as ResourceRequest;
    assert.deepEqual([info.kind, info.declaration], ['resource', undefined]);
  });

  for (const path of [
    '/api/v1/namespaces/a/namespaces/a',
    '/api/v1/namespaces/a/namespaces',
    '/api/v1/namespaces/a/namespaces/a/status',
    '/api/v1/namespaces/a/nodes',
    '/api/v1/namespaces/a/nodes/n',
    '/api/v1/namespaces//nodes',
    '/api/v1/configmaps/b',
    '/api/v1/pods/b/status',
    '/api/v1/watch/configmaps/b',
    '/api/v1/watch/namespaces/a/namespaces/a',
    '/api/v1/watch/namespaces/a/pods/b/status',
    '/api/v1/watch/namespaces/a/pods/b/proxy',
    '/api/v1/watch/namespaces/a/bindings',
    '/api/v1/watch/watch/configmaps',
    '/api/v1/watch/nonsense',
    '/api/v1/watch',
  ])
    it(`finds nothing at ${path}`, () => {
      const info = parse('GET', path) as ResourceRequest;
      assert.deepEqual([info.kind, info.declaration], ['resource', undefined]);
    });

  for (const url of ['/api/v1/namespaces/%zz/configmaps', '/api/v1/namespaces/a/configmaps/%00', '/api/v1/%ff/x']) {
    it(`refuses ${url}`, () =>
      assert.throws(
        () => parse('GET', url),
        (err) => hasReason(err, 'BadRequest'),
      ));
  }
});

describe('originForm()', () => {
  for (const url of [
    '/metrics#x',
    '/api/v1/pods?watch=1#',
    'https://a/livez#x',
    '#',
    '/metrics\xa0',
    '/livez\\..\\metrics\xa0',
    '/ metrics',
    '/metrics\t',
    '/m\xe9trics',
    '/livez?a=\ufeff',
  ]) {
    it(`refuses ${JSON.stringify(url)}`, () =>
      assert.throws(
        () => originForm(url),
        (err) => hasReason(err, 'BadRequest'),
      ));
  }

  for (const [url, path] of [
    ['https://a.b:1/api/v1/pods?watch=1', '/api/v1/pods?watch=1'],
    ['HTTP://[::1]:1//metrics', '//metrics'],
    ['https://[:/metrics', '/metrics'],
    ['https://a', '/'],
    ['https://a?b=/c', '/?b=/c'],
    ['/https://a/b', '/https://a/b'],
    ['//a/b', '//a/b'],
    ['*', '*'],
  ] as const) {
    it(`reads ${path} in ${url}`, () => assert.equal(originForm(url), path));
  }
});
