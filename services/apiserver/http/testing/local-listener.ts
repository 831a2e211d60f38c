import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Certificates } from '../../../storage/testing/certificates.js';
import { listen, type Listener, type ListenerOptions } from '../listener.js';

const log = { info: () => undefined, warn: () => undefined };

/** Listens on a port of this machine, with the certificate of a server and times that no test comes near. */
export const listenHere = (
  { server: { certFile, keyFile } }: Certificates,
  handler: Parameters<typeof listen>[1],
  o: Partial<ListenerOptions> = {},
): Promise<Listener> =>
  listen(
    {
      address: '127.0.0.1',
      port: 0,
      certFile,
      keyFile,
      clientCaFiles: [],
      maxStreams: 100,
      headerTimeoutMs: 10_000,
      requestTimeoutMs: 10_000,
      log,
      ...o,
    },
    handler,
  );

/** A connection that is open. Its errors are ignored: tests wait for data and for the end. */
export async function connected({ port }: Listener, o: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...o });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}
