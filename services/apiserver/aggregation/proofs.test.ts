import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { Credential } from '../../client/credentials/credential.js';
import { RouteProofs, type Proofs } from './proofs.js';
import type { Route, RouteListener } from './routes.js';

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

describe('RouteProofs', () => {
  let own: Credential;
  let listener: RouteListener;
  let proofs: RouteProofs;
  beforeEach(() => {
    own = { headers: {}, cert: 'c', key: 'k', certificateVersion: 0 };
    proofs = new RouteProofs({ current: () => Promise.resolve(own) }, { listen: (it) => (listener = it) });
  });

  const of = (change: Partial<Route> = {}): Promise<Proofs> =>
    proofs.of({ ...ROUTE, ...change }, new AbortController().signal);

  it('are the certificate of this server, the authorities of the route and the name of its service', async () => {
    assert.deepEqual((await of()).tls, { cert: 'c', key: 'k', serverName: 'far.ns.svc', ca: 'one' });
    assert.deepEqual((await of({ insecure: true })).tls, { cert: 'c', key: 'k', serverName: 'far.ns.svc' });
    assert.match((await of({ authorities: '' })).tls.ca ?? '', /BEGIN CERTIFICATE/);
    const none = await new RouteProofs(undefined, { listen: () => undefined }).of(ROUTE, new AbortController().signal);
    assert.deepEqual(none.tls, { serverName: 'far.ns.svc', ca: 'one' });
  });

  it('share connections when all of them are the same, and with nothing else', async () => {
    const { free } = await of();
    assert.equal((await of()).free, free);
    assert.equal((await of({ name: 'v2.a', version: 'v2', isAvailable: false, versionPriority: 9 })).free, free);
    const { service } = ROUTE;
    const others: Partial<Route>[] = [
      { authorities: 'two' },
      { authorities: '' },
      { insecure: true },
      { service: { ...service, name: 'near' } },
      { service: { ...service, namespace: 'other' } },
      { service: { ...service, port: 444 } },
    ];
    const all = await Promise.all(others.map(async (it) => (await of(it)).free));
    assert.equal(new Set([free, ...all]).size, 7);
  });

  it('close what is free when a route leads elsewhere or is gone, of its service alone', async () => {
    const route: Route = { ...ROUTE };
    const signal = new AbortController().signal;
    const [mine, near] = [await proofs.of(route, signal), await of({ service: { ...ROUTE.service, name: 'near' } })];
    const socket = new Duplex({ read: () => undefined }) as unknown as Socket;
    socket.setTimeout = () => socket;
    mine.free.keep('x', socket, 1_000);
    listener.changed('v1.a', route, { ...route, isAvailable: false });
    listener.changed('v9.a', undefined, route);
    assert.deepEqual([mine.free.isClosed, socket.destroyed], [false, false]);
    listener.changed('v1.a', route, { ...route, authorities: 'two' });
    assert.deepEqual([mine.free.isClosed, socket.destroyed, near.free.isClosed], [true, true, false]);
    const again = await proofs.of(route, signal);
    assert.equal(again.free.isClosed, false);
    listener.changed('v1.a', route, undefined);
    assert.equal(again.free.isClosed, true);
  });

  it('close what is free when this server has another certificate, also for a route that is known', async () => {
    const route: Route = { ...ROUTE };
    const signal = new AbortController().signal;
    for (const next of [
      { ...own, cert: 'c2' },
      { ...own, cert: 'c2', key: 'k2' },
    ]) {
      const before = await proofs.of(route, signal);
      own = next;
      const now = await proofs.of(route, signal);
      assert.deepEqual([before.free.isClosed, now.free.isClosed, now.free === before.free], [true, false, false]);
      assert.deepEqual([now.tls.cert, now.tls.key], [next.cert, next.key]);
    }
  });

  it('keep nothing after the end', async () => {
    const { free } = await of();
    proofs.close();
    assert.deepEqual([free.isClosed, (await of()).free.isClosed], [true, true]);
  });
});
