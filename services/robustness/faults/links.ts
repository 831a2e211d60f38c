import type { TcpProxy } from '../../machinery/testing/tcp-proxy.js';
import type { ServerPart } from '../installation/installation.js';
import type { FaultKind } from './fault.js';
import { ofServer } from './fault.js';

/** Bytes of answers that a slow wire lets through every 20 ms. */
const SLOW_BYTES = 1_500;

interface WireFault {
  readonly help: string;
  readonly start: (wire: TcpProxy) => Promise<void> | void;
  readonly stop: (wire: TcpProxy) => Promise<void> | void;
}

const resume = (wire: TcpProxy): void => wire.resume();

const WIRE_FAULTS: Readonly<Record<'cut' | 'hold' | 'hold-requests' | 'hold-answers' | 'slow', WireFault>> = {
  cut: { help: 'connections end, and new ones are refused', start: (it) => it.refuse(), stop: (it) => it.admit() },
  hold: { help: 'nothing goes through, in neither direction', start: (it) => it.pause(), stop: resume },
  'hold-requests': { help: 'answers go through, and no requests', start: (it) => it.holdRequests(), stop: resume },
  'hold-answers': { help: 'requests go through, and no answers', start: (it) => it.holdAnswers(), stop: resume },
  slow: { help: 'answers trickle', start: (it) => it.slow(SLOW_BYTES), stop: resume },
};

interface Wires {
  readonly name: string;
  readonly group: 'client link' | 'store link';
  readonly where: string;
  readonly of: (server: ServerPart) => readonly TcpProxy[];
}

const WIRES: readonly Wires[] = [
  { name: 'client', group: 'client link', where: 'between clients and a server', of: ({ link }) => [link] },
  { name: 'store', group: 'store link', where: 'between a server and etcd', of: ({ storeLinks }) => storeLinks },
];

/** Each fault of a wire, on each kind of wire: `cut-client-link` and so on. */
export const LINK_FAULTS: Readonly<Record<string, FaultKind>> = Object.fromEntries(
  WIRES.flatMap(({ name, group, where, of }) =>
    Object.entries(WIRE_FAULTS).map(([fault, { help, start, stop }]) => {
      const onAll =
        (what: typeof start) =>
        async (server: ServerPart): Promise<void> => {
          for (const wire of of(server)) await what(wire);
        };
      const kind: FaultKind = { help: `${where}: ${help}`, group, make: ofServer(onAll(start), onAll(stop)) };
      return [`${fault}-${name}-link`, kind];
    }),
  ),
);
