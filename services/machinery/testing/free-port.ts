import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';

const FIRST = 10_000;
/** Where fewer are left below the ephemeral ports, the kernel chooses. */
const MIN_PORTS = 4_000;
const TRIES = 100;

/**
 * Free ports, all different. They are below the ephemeral ports, so that no outgoing connection takes the port of a
 * server that is stopped and started again.
 */
export async function freePorts(count: number, end = firstEphemeralPort()): Promise<number[]> {
  const choose = (): number => FIRST + Math.floor(Math.random() * (end - FIRST));
  const isBelow = end - FIRST >= MIN_PORTS;
  const held: Held[] = [];
  try {
    for (let left = TRIES + count; held.length < count; left--) {
      const one = await hold(isBelow && left > 0 ? choose() : 0);
      if (one !== undefined) held.push(one);
    }
  } finally {
    await Promise.all(held.map((it) => it.release()));
  }
  return held.map((it) => it.port);
}

/** From `net.ipv4.ip_local_port_range`. @returns 0 where the system does not say. */
function firstEphemeralPort(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    return 0;
  }
}

interface Held {
  readonly port: number;
  release(): Promise<unknown>;
}

/** @param wanted 0: the kernel chooses. @returns undefined when the port is taken. */
async function hold(wanted: number): Promise<Held | undefined> {
  const server = createServer().listen(wanted, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (err) {
    if (wanted !== 0) return undefined;
    throw err;
  }
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { port, release: () => once(server.close(), 'close') };
}
