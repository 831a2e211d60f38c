import { createServer, type AddressInfo } from 'node:net';

/** Free ports, chosen by the kernel; all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer().once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((it) => (it.address() as AddressInfo).port); // it listens on TCP
  await Promise.all(servers.map((it) => new Promise((resolve) => it.close(resolve))));
  return ports;
}
