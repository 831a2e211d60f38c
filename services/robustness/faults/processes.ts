import { ofServer, type FaultKind } from './fault.js';

const CLOCK_STEPS_MS = [-3_600_000, -30_000, 30_000, 3_600_000];

export const PROCESS_FAULTS = {
  'kill-server': {
    help: 'a server is killed and started again',
    group: 'process',
    make: ofServer(
      ({ process }) => process.kill(),
      ({ process }) => process.start(),
    ),
  },
  'pause-server': {
    help: 'a server stands still (SIGSTOP) and goes on',
    group: 'process',
    make: ofServer(
      ({ process }) => process.pause(),
      ({ process }) => process.resume(),
    ),
  },
  'rolling-restart': {
    help: 'every server is stopped as operators do, and started again, one after the other',
    group: 'process',
    make: ({ servers }) => ({
      hits: [],
      start: async () => {
        for (const { process } of servers) {
          await process.stop();
          await process.start().catch(() => undefined); // another fault may be in its way: it is started in the end
        }
      },
      stop: async () => {
        for (const { process } of servers) await process.start();
      },
    }),
  },
  'clock-step': {
    help: 'the clock of a server is set forward or back while it runs',
    group: 'clock',
    make: (parts, random) => {
      const stepMs = random.pick(CLOCK_STEPS_MS);
      const step = ofServer(
        ({ setClock }) => setClock(stepMs),
        ({ setClock }) => setClock(0),
      );
      return { ...step(parts, random), hits: [] }; // it works on
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
