import type { IncomingMessage } from 'node:http';
import type { WebSocket, WebSocketServer } from 'ws';
import { badRequest } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import type { AnswerStream } from './stream.js';
import { upgradeOf, type Upgrade } from './upgrade.js';

/** How the frames of a watch become messages. */
export interface Messages {
  readonly binary: boolean;
  /** The whole frames in `bytes`, one by one, as they stand in a message. */
  readonly each: (bytes: Buffer) => Iterable<Buffer>;
}

/** Frames of JSON end with a line. */
export const TEXT_MESSAGES: Messages = {
  binary: false,
  *each(bytes) {
    for (let at = 0; at < bytes.length;) {
      const line = bytes.indexOf(0x0a, at);
      const end = line < 0 ? bytes.length : line + 1;
      yield bytes.subarray(at, end);
      at = end;
    }
  },
};

const LENGTH_BYTES = 4;

/** Frames of Protobuf begin with their length, which a message has already. */
export const BINARY_MESSAGES: Messages = {
  binary: true,
  *each(bytes) {
    for (let at = 0; at + LENGTH_BYTES <= bytes.length;) {
      const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
      yield bytes.subarray(at + LENGTH_BYTES, end);
      at = end;
    }
  },
};

/** Clients of a watch have nothing to say. */
const MAX_MESSAGE_BYTES = 4 * 1024;
/** A client that reads nothing gets no more answers to its pings than this has room for. */
const MAX_WAITING_BYTES = 64 * 1024;

/** Close codes (RFC 6455, 7.4.1). */
const NORMAL = 1000;
const GOING_AWAY = 1001;

const OPTIONS = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false, // a window for each watcher would take more memory than all else that it has
  maxPayload: MAX_MESSAGE_BYTES,
  autoPong: false,
};
let sockets: WebSocketServer | undefined;

/** The web socket server for all watches of the process; its code is loaded by the first one. */
export async function socketServer(): Promise<WebSocketServer> {
  const { WebSocketServer: Server } = await import('ws');
  return (sockets ??= new Server(OPTIONS));
}

const isWebSocket = (protocol: string | undefined): boolean => protocol?.toLowerCase() === 'websocket';

/** Whether a request may be a watch that goes on as a web socket. What it is in truth is found out further in. */
export const mayBeWatchSocket = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && isWebSocket(headers.upgrade) && /[?&]watch(?:[=&]|$)|\/watch\//.test(url);

/** The wish of a watch to go on as a web socket. @throws {StatusError} BadRequest for one that is malformed */
export function socketWish({ req }: Context): Upgrade | undefined {
  const upgrade = upgradeOf(req);
  if (upgrade === undefined || !isWebSocket(upgrade.protocol)) return undefined;
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version = '' } = req.headers;
  if (!/^[\w+/]{22}==$/.test(key)) throw badRequest('Sec-WebSocket-Key is not 16 bytes in base64');
  if (version !== '13') throw badRequest('Sec-WebSocket-Version: only 13 is supported');
  if (!areProtocols(req.headers['sec-websocket-protocol']))
    throw badRequest('Sec-WebSocket-Protocol is no list of names');
  return upgrade;
}

const NAME = /^[!#$%&'*+.^`|~\w-]+$/;

function areProtocols(header: string | undefined): boolean {
  if (header === undefined) return true;
  const names = header.split(',').map((name) => name.trim());
  return names.every((name) => NAME.test(name)) && new Set(names).size === names.length;
}

/** Goes on as a web socket: each frame is a message. The first of the protocols that the client offers is agreed to. */
export function openWatchSocket(
  server: WebSocketServer,
  ctx: Context,
  { upgrade, messages }: { readonly upgrade: Upgrade; readonly messages: Messages },
): AnswerStream {
  const { signal } = ctx.state;
  const socket = upgrade.take();
  let opened: WebSocket | undefined;
  server.handleUpgrade(ctx.req, socket, upgrade.head, (ws) => (opened = ws)); // calls back at once
  if (opened === undefined) throw new Error('The web socket was refused after it had been looked at');
  const ws = opened;
  ws.on('error', () => undefined); // what the client did wrong is told to it in the close code
  ws.on('ping', (data) => {
    if (ws.bufferedAmount <= MAX_WAITING_BYTES) ws.pong(data);
  });
  return {
    write: (bytes) => {
      if (ws.readyState !== ws.OPEN) return false;
      for (const message of messages.each(bytes)) ws.send(message, { binary: messages.binary });
      return !socket.writableNeedDrain;
    },
    onDrain: (listener) => void socket.on('drain', listener),
    onClose: (listener) => {
      if (signal.aborted) listener();
      else signal.addEventListener('abort', listener, { once: true });
    },
    get closed() {
      return signal.aborted || ws.readyState !== ws.OPEN;
    },
    end: (why) => ws.close(why === 'stopping' ? GOING_AWAY : NORMAL),
  };
}
