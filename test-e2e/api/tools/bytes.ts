import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { bytesOf, type Client } from './client.js';

export interface BytesReply {
  readonly code: number;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface BytesRequest {
  readonly accept: string;
  readonly body?: unknown;
  readonly type?: string;
}

const WITHIN_MS = 20_000;

async function open({ url, token }: Client, method: string, path: string, o: BytesRequest): Promise<IncomingMessage> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: o.accept,
    ...(o.body === undefined ? {} : { 'content-type': o.type ?? 'application/json' }),
  };
  const target = { host: url.hostname, port: url.port, method, path, headers, rejectUnauthorized: false, agent: false };
  const req = https.request({ ...target, signal: AbortSignal.timeout(WITHIN_MS) });
  req.end(o.body === undefined ? undefined : bytesOf(o.body));
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return res;
}

/** A request whose answer is no text. */
export async function askBytes(client: Client, method: string, path: string, o: BytesRequest): Promise<BytesReply> {
  const res = await open(client, method, path, o);
  return { code: res.statusCode ?? 0, type: res.headers['content-type'] ?? '', bytes: await buffer(res) };
}

/** Reads a watch whose events stand behind their length in four bytes, until `count` of them are there. */
export async function takeFrames(
  client: Client,
  path: string,
  accept: string,
  count: number,
): Promise<{ readonly type: string; readonly frames: readonly Buffer[] }> {
  const res = await open(client, 'GET', path, { accept });
  const frames: Buffer[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of res) {
    rest = Buffer.concat([rest, part as Buffer]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
      const end = 4 + rest.readUInt32BE();
      frames.push(rest.subarray(4, end));
      rest = rest.subarray(end);
    }
    if (frames.length >= count) break;
  }
  return { type: res.headers['content-type'] ?? '', frames };
}
