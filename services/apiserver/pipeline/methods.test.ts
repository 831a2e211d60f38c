import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { servedApi } from '../registry/runtime-config.js';
import { methodRefused, methodsOf, parseRequest } from './request-info.js';
import type { ResourceRequest } from '../request/request.js';

const { api } = servedApi(loadCatalog(vocabulary('platform')), new Map());

describe('methodsOf()', () => {
  const READ = 'GET, HEAD';
  for (const [path, methods] of [
    ['/api/v1/configmaps', READ],
    ['/api/v1/namespaces/a/configmaps', `${READ}, POST, DELETE`],
    ['/api/v1/namespaces/a/configmaps/b', `${READ}, PUT, PATCH, DELETE`],
    ['/api/v1/nodes', `${READ}, POST, DELETE`],
    ['/api/v1/namespaces', `${READ}, POST`],
    ['/api/v1/namespaces/a', `${READ}, PUT, PATCH, DELETE`],
    ['/api/v1/namespaces/a/finalize', 'PUT'],
    ['/api/v1/namespaces/a/pods/b/status', `${READ}, PUT, PATCH`],
    ['/api/v1/namespaces/a/pods/b/eviction', 'POST'],
    ['/api/v1/namespaces/a/pods/b/exec', `${READ}, POST`],
    ['/api/v1/namespaces/a/pods/b/proxy', `${READ}, POST, PUT, PATCH, DELETE, OPTIONS`],
    ['/api/v1/namespaces/a/bindings', 'POST'],
    ['/api/v1/componentstatuses', READ],
    ['/api/v1/watch/configmaps', READ],
    ['/api/v1/watch/namespaces/a/configmaps/b', READ],
    // No path at all:
    ['/api/v1/bindings', ''],
    ['/api/v1/namespaces/a/bindings/b', ''],
    ['/api/v1/namespaces/a/configmaps/b/status', ''],
    ['/api/v1/namespaces/a/configmaps/b/constructor', ''],
    ['/apis/authorization.platform.io/v1/subjectaccessreviews/a', ''],
  ] as const)
    it(`tells those of ${path}`, () => {
      const info = parseRequest(api, 'GET', path, new URLSearchParams()) as ResourceRequest;
      assert.ok(info.declaration !== undefined);
      assert.equal([...methodsOf(info, info.declaration)].join(', '), methods);
    });
});

describe('methodRefused()', () => {
  const refuse = (method: string): readonly unknown[] => {
    const headers: unknown[] = [];
    const { code, reason } = methodRefused({ method, set: (...header: unknown[]) => void headers.push(header) }, [
      'GET',
      'PUT',
    ]);
    return [code, reason, ...headers];
  };

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    it(`says that ${method} is not for this path, and what is`, () =>
      assert.deepEqual(refuse(method), [405, 'MethodNotAllowed', ['Allow', 'GET, PUT']]));

  for (const method of ['BREW', 'TRACE', 'CONNECT', 'get', 'constructor', '__proto__', ''])
    it(`says that ${JSON.stringify(method)} is not implemented`, () =>
      assert.deepEqual(refuse(method), [501, 'NotImplemented', ['Allow', 'GET, PUT']]));
});
