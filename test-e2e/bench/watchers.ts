import { once } from 'node:events';
import http2 from 'node:http2';
import { connect } from 'node:tls';
import { request } from './connection.js';
import type { Target } from './connection.js';

const NEWLINE = 0x0a;
const BRACE = 0x7d;

/** Many watchers that only count. */
export interface Crowd {
  /** Frames that all of them together have got. */
  readonly frames: () => number;
  close(): void;
}

/** A frame ends in `}` and a newline; chunk framing ends in carriage return and newline. */
function countFrames(part: Buffer, lastByte: number): number {
  let n = 0;
  for (let i = part.indexOf(NEWLINE); i >= 0; i = part.indexOf(NEWLINE, i + 1)) {
    if ((i === 0 ? lastByte : part[i - 1]) === BRACE) n++;
  }
  return n;
}

export async function crowdOverHttp1(target: Target, path: string, size: number): Promise<Crowd> {
  let frames = 0;
  const sockets = await Promise.all(
    Array.from({ length: size }, async () => {
      const socket = connect({ ...target, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
      await once(socket, 'secureConnect');
      const answered = once(socket, 'data');
      let last = 0;
      socket.on('data', (part: Buffer) => {
        frames += countFrames(part, last);
        last = part[part.length - 1] ?? last;
      });
      socket.on('error', () => undefined);
      socket.write(request('GET', path));
      await answered;
      return socket;
    }),
  );
  return { frames: () => frames, close: () => sockets.forEach((socket) => socket.destroy()) };
}

export async function crowdOverHttp2(target: Target, path: string, size: number): Promise<Crowd> {
  let frames = 0;
  const session = http2.connect(`https://${target.host}:${target.port}`, {
    ...target,
    rejectUnauthorized: false,
    settings: { initialWindowSize: 4 * 1024 * 1024 },
    maxSessionMemory: 256,
  });
  session.on('error', () => undefined);
  await once(session, 'connect');
  session.setLocalWindowSize(64 * 1024 * 1024);
  await Promise.all(
    Array.from({ length: size }, async () => {
      const stream = session.request({ ':path': path, accept: 'application/json' });
      let last = 0;
      stream.on('data', (part: Buffer) => {
        frames += countFrames(part, last);
        last = part[part.length - 1] ?? last;
      });
      stream.on('error', () => undefined);
      await once(stream, 'response');
    }),
  );
  return { frames: () => frames, close: () => session.destroy() };
}
