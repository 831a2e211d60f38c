import type { Session } from 'node:inspector/promises';
import { StatusError } from '../../machinery/meta/status.js';
import { rest } from '../../machinery/loop/repeat.js';

/** What the process does, or allocates, for a while. Neither stops it: it is looked at now and then. */
export type ProfileName = 'profile' | 'heap';

interface Kind {
  readonly extension: string;
  start(session: Session): Promise<unknown>;
  /** What the development tools of browsers open. */
  stop(session: Session): Promise<object>;
}

/** A look every 2 ms costs little, also on a machine that is slow. */
const CPU_INTERVAL_US = 2_000;
/** One allocation of so many bytes is looked at. */
const HEAP_INTERVAL_BYTES = 128 * 1024;

const KINDS: Readonly<Record<ProfileName, Kind>> = {
  profile: {
    extension: 'cpuprofile',
    start: async (session) => {
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
      await session.post('Profiler.start');
    },
    stop: async (session) => (await session.post('Profiler.stop')).profile,
  },
  heap: {
    extension: 'heapprofile',
    start: (session) => session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES }),
    stop: async (session) => (await session.post('HeapProfiler.stopSampling')).profile,
  },
};

export const extensionOf = (name: ProfileName): string => KINDS[name].extension;

let running = false;

/**
 * Takes a profile of this process. There is one at a time in a process.
 *
 * @throws {StatusError} TooManyRequests while another one is taken
 * @throws `signal.reason` when it fires: what was seen is thrown away
 */
export async function takeProfile(name: ProfileName, seconds: number, signal: AbortSignal): Promise<Buffer> {
  if (running) {
    const details = { retryAfterSeconds: 1 };
    throw new StatusError('TooManyRequests', 'Another profile of this process is being taken', { details });
  }
  running = true;
  try {
    const inspector = await import('node:inspector/promises');
    const session = new inspector.Session();
    session.connect();
    try {
      await KINDS[name].start(session);
      await rest(seconds * 1_000, signal);
      signal.throwIfAborted();
      return Buffer.from(JSON.stringify(await KINDS[name].stop(session)));
    } finally {
      session.disconnect(); // ends what was started
    }
  } finally {
    running = false;
  }
}
