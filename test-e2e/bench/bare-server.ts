import { readFileSync } from 'node:fs';
import http2, { type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';

/**
 * The limit of the machine: a server that has its answers ready and does nothing but send them. Run as a process of its
 * own with the paths of a certificate and its key; prints its port.
 *
 * `/fixed/<bytes>` answers that many bytes; `/watch` holds the connection; a PUT of `/emit` sends its body to each of those
 * who watch, and answers; `/allow` is an admission webhook that allows everything.
 */
const [certFile = '', keyFile = ''] = process.argv.slice(2);
const server = http2.createSecureServer({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
  allowHTTP1: true,
  maxSessionMemory: 64,
  settings: { maxConcurrentStreams: 1000, initialWindowSize: 1024 * 1024 },
});
const watching = new Set<Http2ServerResponse>();
const bodies = new Map<number, Buffer>();

function fixed(size: number): Buffer {
  let body = bodies.get(size);
  if (body === undefined) bodies.set(size, (body = Buffer.alloc(size, 'x')));
  return body;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}

function whole(req: Http2ServerRequest, then: (body: Buffer) => void): void {
  const parts: Buffer[] = [];
  req.on('data', (part: Buffer) => parts.push(part));
  req.on('end', () => then(Buffer.concat(parts)));
}

server.on('request', (req, res) => {
  if (req.url === '/watch') {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.write('\n');
    watching.add(res);
    res.on('close', () => watching.delete(res));
  } else if (req.url === '/emit') {
    whole(req, (frame) => {
      for (const watcher of watching) watcher.write(frame);
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 });
      res.end('{}');
    });
  } else if (req.url.startsWith('/allow')) {
    whole(req, (review) => {
      const { apiVersion, kind, request } = JSON.parse(review.toString()) as Review;
      res.writeHead(200, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ apiVersion, kind, response: { uid: request.uid, allowed: true } }));
    });
  } else {
    const body = fixed(Number(req.url.slice('/fixed/'.length)));
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    res.end(body);
  }
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
