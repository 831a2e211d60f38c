import { backoffMs } from '../../machinery/loop/backoff.js';

/** How long an address is left alone that could not be reached. */
const REST = { leastMs: 2_000, mostMs: 60_000 };

interface Server {
  readonly url: URL;
  failures: number;
  restsUntil: number;
}

/** The addresses of a server, in the order in which they are preferred. */
export class Servers {
  readonly #servers: readonly Server[];
  readonly #now: () => number;

  /** @param urls One at least. @param now Milliseconds that only rise. */
  constructor(urls: readonly URL[], now: () => number = () => performance.now()) {
    if (urls.length === 0) throw new Error('A client needs the address of a server');
    this.#servers = urls.map((url) => ({ url, failures: 0, restsUntil: 0 }));
    this.#now = now;
  }

  get count(): number {
    return this.#servers.length;
  }

  /** The first one that is not left alone, else the one that will be the next. */
  get current(): URL {
    const now = this.#now();
    const [first, ...others] = this.#servers as readonly [Server, ...Server[]];
    const until = ({ restsUntil }: Server): number => Math.max(now, restsUntil);
    return others.reduce((best, it) => (until(it) < until(best) ? it : best), first).url;
  }

  /** It could not be reached, and is left alone for a while, longer each time. */
  failed(url: URL): void {
    const server = this.#servers.find((it) => it.url === url);
    if (server === undefined || server.restsUntil > this.#now()) return; // of several requests that failed at once, one counts
    server.restsUntil = this.#now() + backoffMs(server.failures++, REST);
  }

  answered(url: URL): void {
    const server = this.#servers.find((it) => it.url === url);
    if (server === undefined) return;
    server.failures = 0;
    server.restsUntil = 0;
  }
}
