import assert from 'node:assert/strict';
import { StatusError } from '../../machinery/meta/status.js';
import type { BreakerState } from '../../machinery/breaker/breaker.js';
import type { CachedObject } from '../cache/cached-object.js';
import { Peers } from './peers.js';
import { Routes, type Route } from './routes.js';

const ROUTE: Route = {
  name: 'v1.a',
  group: 'a',
  version: 'v1',
  service: { namespace: 'ns', name: 'far', port: 443 },
  authorities: 'one',
  insecure: false,
  groupPriority: 1,
  versionPriority: 1,
  isAvailable: true,
};

describe('Peers', () => {
  let states: Map<string, BreakerState[]>;
  let lookups: number;
  let service: object | undefined;
  let peers: Peers;
  beforeEach(() => {
    states = new Map();
    lookups = 0;
    // Leads to this machine, which is found out when it is connected to, and refused.
    service = { spec: { type: 'ExternalName', externalName: 'localhost' } };
    const cached = (): CachedObject | undefined => {
      lookups++;
      return service === undefined ? undefined : ({ parse: () => service } as unknown as CachedObject);
    };
    const observe = (name: string): object => ({
      changed: (state: BreakerState) => states.set(name, [...(states.get(name) ?? []), state]),
      gone: () => states.delete(name),
    });
    const d = { objects: { cached }, certificate: undefined, connectMs: 60_000, toEndpoints: true, observe };
    peers = new Peers(d as unknown as ConstructorParameters<typeof Peers>[0], new Routes());
  });
  afterEach(() => peers.close());

  const failure = async (route = ROUTE): Promise<string> => {
    const err: unknown = await peers.connect(route, new AbortController().signal, 'any').catch((it: unknown) => it);
    assert.ok(
      err instanceof StatusError && err.reason === 'ServiceUnavailable' && err.message === 'service unavailable',
    );
    return (err.cause as Error).name;
  };

  it('leave a service alone that fails under load, and no other one', async () => {
    const together = await Promise.all(Array.from({ length: 50 }, () => failure()));
    assert.deepEqual(new Set(together), new Set(['PeerError']));
    assert.equal(await failure(), 'LeftAlone');
    assert.deepEqual(states.get('aggregation ns/far:443'), ['closed', 'open']);
    assert.equal(await failure({ ...ROUTE, service: { ...ROUTE.service, name: 'near' } }), 'PeerError');
    assert.deepEqual(states.get('aggregation ns/near:443'), ['closed']);
    assert.ok(lookups > 50);
  });

  it('ask a service again that has answered a check', async () => {
    await Promise.all(Array.from({ length: 20 }, () => failure()));
    assert.equal(await failure(), 'LeftAlone');
    peers.heal(ROUTE);
    assert.equal(await failure(), 'PeerError');
    assert.deepEqual(states.get('aggregation ns/far:443')?.slice(0, 3), ['closed', 'open', 'closed']);
  });

  it('hold nothing against a service that is not there yet', async () => {
    const there = service;
    service = undefined;
    for (let i = 0; i < 30; i++) assert.equal(await failure(), 'PeerError');
    service = there;
    assert.equal(await failure(), 'PeerError');
    assert.deepEqual(states.get('aggregation ns/far:443'), ['closed']);
  });
});
