import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { freePorts } from './free-port.js';

const listen = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

describe('free ports', () => {
  it('are different, free, and below the ephemeral ones', async () => {
    const ports = await freePorts(100, 14_000);
    assert.equal(new Set(ports).size, 100);
    assert.ok(ports.every((port) => port >= 10_000 && port < 14_000));
    for (const server of await Promise.all(ports.map(listen))) server.close();
  });

  it('come from the kernel where too few are below the ephemeral ones', async () => {
    for (const end of [0, 10_001, 13_999]) {
      const ports = await freePorts(20, end);
      assert.equal(new Set(ports).size, 20);
      assert.ok(ports.every((port) => port >= 1024));
    }
  });

  it('are none that something listens on', async () => {
    const random = Math.random;
    const [taken = 0] = await freePorts(1, 14_000);
    const server = await listen(taken);
    const drawn = [taken, taken, 13_999].map((port) => (port - 10_000 + 0.5) / 4_000);
    Math.random = () => drawn.shift() ?? random();
    try {
      const [port] = await freePorts(1, 14_000);
      assert.notEqual(port, (server.address() as AddressInfo).port);
    } finally {
      Math.random = random;
      server.close();
    }
  });
});
