import { Connection, type Target } from './connection.js';

/** What a closed loop of requests reached. */
export interface Measured {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly count: number;
}

export interface LoopOptions {
  /** Connections are shared out among them. */
  readonly targets: readonly Target[];
  readonly connections: number;
  readonly durationMs: number;
  /** Most requests in all; the loop ends with them. */
  readonly count?: number;
  /** The n-th request of all connections together. */
  readonly next: (n: number) => Buffer;
  readonly expect: number;
}

/** Each connection sends its next request when the last one is answered. */
export async function closedLoop(o: LoopOptions): Promise<Measured> {
  const { targets } = o;
  const connections = await Promise.all(
    Array.from({ length: o.connections }, (_, i) => Connection.open(targets[i % targets.length] as Target)),
  );
  const latencies: number[] = [];
  let sent = 0;
  let bytes = 0;
  const from = performance.now();
  const until = from + o.durationMs;
  const run = async (connection: Connection): Promise<void> => {
    while (performance.now() < until && sent < (o.count ?? Infinity)) {
      const message = o.next(sent++);
      const at = performance.now();
      const answer = await connection.ask(message);
      latencies.push(performance.now() - at);
      bytes += answer.bytes;
      if (answer.code !== o.expect) {
        throw new Error(`Expected ${o.expect}, got ${answer.code}: ${connection.firstBytes.slice(0, 300)}`);
      }
    }
  };
  try {
    await Promise.all(connections.map(run));
  } finally {
    for (const connection of connections) connection.close();
  }
  const seconds = (performance.now() - from) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? NaN;
  return {
    perSecond: latencies.length / seconds,
    bytesPerSecond: bytes / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    count: latencies.length,
  };
}
