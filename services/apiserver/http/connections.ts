import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { StatusError } from '../../machinery/meta/status.js';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

interface Connection {
  /** Answers that are not out, those that wait behind others too. */
  readonly unanswered: Set<ServerResponse>;
  /** What is to be done when all are out. */
  whenAnswered?: (() => void) | undefined;
  /** Node has let go of it: whoever took it closes it. */
  taken: boolean;
  /** Looks in a row at which nothing was asked, and nothing came. */
  quietLooks: number;
  bytesRead: number;
  /** The server says nothing more. */
  ended: boolean;
}

/** How often connections are looked at that are about to be closed. */
const LOOK_MS = 50;
/**
 * So many looks at which nothing came: what is on its way still is answered. They are counted, not timed: between two of
 * them the process has read what had arrived, however long it was held up.
 */
const QUIET_LOOKS = 6;
/** How long a client may take to read the last answer. */
const LINGER_MS = 2_000;

/**
 * The connections of a server that speak HTTP/1.1, and how they end. This protocol has no word for "no more requests on
 * this connection" but in an answer: so a server that is about to stop says it in each (`leave`), and closes connections
 * that had none when nothing has come on them for a while (`endQuiet`).
 */
export class Http1Connections {
  readonly #open = new Map<Socket, Connection>();
  #leaving = false;
  #late = false;

  constructor(server: Http2SecureServer) {
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol !== 'h2') this.#began(socket);
    });
    // The HTTP/1.1 side of this server emits what node:http emits; its types do not tell.
    (server as unknown as Server).prependListener('request', (req, res) => this.#asked(req.socket, res));
  }

  /** What is asked too late is not carried out: it is answered with 503, or not at all where no answer can arrive. */
  inTime(handler: Handler): Handler {
    return (req, res) => {
      if (this.#open.get(req.socket)?.ended === true) req.resume();
      else if (this.#late) refuse(res);
      else handler(req, res);
    };
  }

  /**
   * Takes a connection out of the table's hands when all before it is answered: Node lets go of one with a request that asks
   * for another protocol, also while answers are under way. Not at all when it closes before.
   */
  take(socket: Socket, next: () => void): void {
    if (socket.listenerCount('error', ignore) === 0) socket.on('error', ignore); // a reset is a way of closing
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.taken = true;
    if (connection === undefined || connection.unanswered.size === 0) next();
    else connection.whenAnswered = next;
  }

  /** From now on each answer is the last one of its connection, and says so. */
  leave(): void {
    this.#leaving = true;
    for (const [socket, { unanswered }] of this.#open) {
      socket.destroySoon = () => halfClose(socket);
      for (const res of unanswered) if (!res.headersSent) res.shouldKeepAlive = false;
    }
  }

  /** Ends connections on which nothing is asked, as soon as nothing has come for a while. @returns Ends looking. */
  endQuiet(): () => void {
    const timer = setInterval(() => {
      for (const [socket, connection] of this.#open) {
        if (isQuiet(socket, connection) && connection.quietLooks === QUIET_LOOKS) this.#end(socket, connection);
      }
    }, LOOK_MS);
    return () => clearInterval(timer);
  }

  /** From now on requests are refused. */
  refuseLate(): void {
    this.#late = true;
  }

  #began(socket: Socket): void {
    const known = this.#open.get(socket);
    if (known !== undefined) {
      known.taken = false; // served again: see upgrade.ts
      return;
    }
    this.#open.set(socket, { unanswered: new Set(), taken: false, quietLooks: 0, bytesRead: 0, ended: false });
    if (this.#leaving) socket.destroySoon = () => halfClose(socket);
    socket.once('close', () => this.#open.delete(socket));
  }

  #asked(socket: Socket, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || 'stream' in res) return; // HTTP/2 has no order among requests
    if (this.#leaving) res.shouldKeepAlive = false;
    connection.unanswered.add(res);
    if (connection.unanswered.size <= MOST_READ_ON) readOn(socket);
    res.once('close', () => {
      connection.unanswered.delete(res);
      if (connection.unanswered.size > 0) return;
      const next = connection.whenAnswered;
      connection.whenAnswered = undefined;
      if (next !== undefined && !socket.destroyed) setImmediate(next); // once Node is done with the one before
    });
  }

  #end(socket: Socket, connection: Connection): void {
    connection.ended = true;
    halfClose(socket);
  }
}

/** Answers that a connection may have under way while requests are read from it. */
const MOST_READ_ON = 2;

/**
 * Node stops reading a connection while what was written to it is not out, and takes more of a request that is read already
 * for an error: a client that has just got a large answer, and sends a large request, would be cut off. A client that
 * does not read its answers is still not read from.
 */
function readOn(socket: Socket): void {
  const paused = socket as Socket & { _paused?: boolean };
  if (paused._paused !== true) return;
  paused._paused = false;
  socket.resume();
}

function isQuiet(socket: Socket, connection: Connection): boolean {
  const { bytesRead } = socket;
  const quiet = !connection.taken && connection.unanswered.size === 0 && bytesRead === connection.bytesRead;
  connection.bytesRead = bytesRead;
  connection.quietLooks = quiet ? connection.quietLooks + 1 : 0;
  return quiet;
}

/** Says that nothing more comes, and reads on: a client that is still sending would lose the answer to a reset. */
export function halfClose(socket: Socket): void {
  socket.end();
  socket.resume();
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(late));
}

function refuse(res: ServerResponse): void {
  const retryAfterSeconds = 1;
  const status = new StatusError('ServiceUnavailable', 'The server is stopping', { details: { retryAfterSeconds } });
  res.statusCode = status.code;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Retry-After', String(retryAfterSeconds));
  res.end(JSON.stringify(status.body()));
}

const ignore = (): void => undefined;
