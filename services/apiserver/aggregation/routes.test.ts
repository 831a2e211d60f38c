import assert from 'node:assert/strict';
import type { CachedObject } from '../cache/cached-object.js';
import { Change } from '../cache/history.js';
import { leadsToSame, Routes, routeOf, serviceKey } from './routes.js';
import type { ApiService } from './api-service.js';

const SERVICE = { namespace: 'n', name: 's' };
function stored(name: string, spec: object, status?: object): CachedObject {
  const object = { kind: 'APIService', apiVersion: 'v1', metadata: { name }, spec, status };
  return { name, parse: () => object } as unknown as CachedObject; // as much as is looked at
}
const change = (object: CachedObject, deleted = false): Change => new Change(object, undefined, deleted, 0);
const far = stored('v1.a.b', { group: 'a.b', version: 'v1', service: SERVICE });

describe('Routes', () => {
  it('lead to services, and nowhere for what is served here', () => {
    const routes = new Routes();
    routes.loaded([far, stored('v1.apps', { group: 'apps', version: 'v1' })]);
    assert.equal(routes.find('a.b', 'v1')?.name, 'v1.a.b');
    assert.deepEqual([routes.find('apps', 'v1'), routes.find('a.b', 'v2'), routes.size], [undefined, undefined, 1]);
  });

  it('come, change and go with their objects, and tell', () => {
    const routes = new Routes();
    const told: unknown[] = [];
    routes.loaded([far]);
    routes.listen({ changed: (name, before, next) => told.push([name, before?.isAvailable, next?.isAvailable]) });
    const available = { conditions: [{ type: 'Available', status: 'True' }] };
    routes.changed(change(stored('v1.a.b', { group: 'a.b', version: 'v1', service: SERVICE }, available)));
    assert.equal(routes.find('a.b', 'v1')?.isAvailable, true);
    routes.changed(change(stored('v1.a.b', { group: 'a.b', version: 'v1' })));
    routes.changed(change(far));
    routes.loaded([]);
    routes.changed(change(stored('v1.x', {}), true));
    assert.equal(routes.find('a.b', 'v1'), undefined);
    assert.deepEqual(told, [['v1.a.b', undefined, false], ['v1.a.b', false, true], ['v1.a.b', true, undefined], ['v1.a.b', undefined, false], ['v1.a.b', false, undefined]]); // prettier-ignore
  });

  it('go through port 443 unless another one is named', () => {
    const of = (more: object): ReturnType<typeof routeOf> => routeOf(stored('x', { service: { ...SERVICE, ...more } }).parse() as ApiService); // prettier-ignore
    const [plain, other] = [of({}), of({ port: 8443 })];
    assert.ok(plain !== undefined && other !== undefined);
    assert.deepEqual([serviceKey(plain), serviceKey(other)], ['n/s:443', 'n/s:8443']);
    assert.equal(leadsToSame(plain, other), false);
    assert.equal(leadsToSame(plain, { ...plain, isAvailable: true }), true);
    assert.equal(leadsToSame(plain, { ...plain, authorities: 'x' }), false);
  });
});
