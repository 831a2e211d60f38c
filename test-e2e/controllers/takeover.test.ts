import assert from 'node:assert/strict';
import { setTimeout as passed } from 'node:timers/promises';
import { tcpProxy, type TcpProxy } from '../../services/machinery/testing/tcp-proxy.js';
import { flagsFor, place, type ShownEvent } from '../api/tools/audit.js';
import { TestServer } from '../api/tools/server.js';
import { stopped } from '../support/platform.js';
import { removeDirectory } from '../support/scratch.js';
import { AuditTail, isSuccess, isWrite } from './tools/audit-tail.js';
import { startControllers, type ControllerProcess } from './tools/controller-process.js';
import { optionsOf, userOf } from './tools/processes.js';
import { worksOn, type Work } from './tools/works.js';

const POLICY = {
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
};
const LEASE = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=5s',
  '--leader-elect-retry-period=500ms',
];
/** Of the controllers that are run by two of the processes, each has its own. */
const SHARED = ['namespace', 'garbagecollector'];
const ROWS = [
  { name: 'certificate-signer', work: 'certificate-signer', flags: [] },
  { name: 'token-cleaner', work: 'token-cleaner', flags: [] },
  { name: 'role-aggregation', work: 'role-aggregation', flags: [] },
  { name: 'service-accounts', work: 'service-accounts', flags: [] },
  { name: 'resource-lifecycle', work: 'resource-lifecycle', flags: [`--controllers=*,${SHARED.map((it) => `-${it}`).join()}`] }, // prettier-ignore
  { name: 'controller-manager', work: 'resource-lifecycle', flags: [`--controllers=${SHARED.join()}`] },
] as const;
type Row = (typeof ROWS)[number];
const TURNS = 4;
const PATIENCE_MS = 120_000;

describe('replicas of each process', function () {
  this.timeout(300_000);
  const { dir, ...audit } = place(POLICY);
  const over = new AbortController();
  let tail: AuditTail;
  let server: TestServer;
  let crews: readonly Crew[] = [];
  let working: Promise<unknown>;

  before(async () => {
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(audit) });
    tail = new AuditTail(audit.log);
    crews = ROWS.map((row, i) => new Crew(server, tail, row, `127.0.${i + 1}`));
    working = Promise.all(Object.values(worksOn(server.client)).map((work) => workOn(work)));
    await Promise.all(crews.map((crew) => takeTurns(crew)));
  });
  after(async () => {
    over.abort();
    await Promise.all(crews.map((crew) => crew.end()));
    await server.close();
    removeDirectory(dir);
  });

  async function workOn(work: Work): Promise<void> {
    for (let i = 0; !over.signal.aborted; i++) {
      await work.make(i);
      await passed(1_000);
    }
  }

  /** A leader that hangs past its lease and wakes, one that is killed, and one that is stopped. */
  async function takeTurns(crew: Crew): Promise<void> {
    await Promise.all([crew.start(), crew.start()]);
    const hung = await crew.worker();
    hung.kill('SIGSTOP');
    const killed = await crew.worker(hung);
    hung.kill('SIGCONT');
    assert.equal((await hung.exited).code, 1);
    assert.match(hung.stderr(), /Leadership is lost/);
    await crew.start();
    killed.kill('SIGKILL');
    const ended = await crew.worker(killed);
    await crew.start();
    await stopped(ended);
    await crew.worker(ended);
  }

  for (const [i, { name }] of ROWS.entries()) {
    it(`${name}: never write in turns`, async () => {
      over.abort();
      await working;
      const writers = tail.read().filter((event) => crews[i]?.wrote(event) === true).sort(inOrder).map(addressIn); // prettier-ignore
      const turns = writers.filter((it, at) => it !== writers[at - 1]);
      assert.ok(turns.length >= TURNS, String(turns.length));
      assert.deepEqual(turns, [...new Set(turns)]);
    });
  }
});

/** Replicas of one process. The server sees each at an address of its own. One that loses its lease on its own has a next one. */
class Crew {
  readonly #server: TestServer;
  readonly #tail: AuditTail;
  readonly #row: Row;
  readonly #net: string;
  readonly #members = new Map<string, ControllerProcess>();
  readonly #proxies: TcpProxy[] = [];
  #started = 0;
  #isOver = false;

  constructor(server: TestServer, tail: AuditTail, row: Row, net: string) {
    this.#server = server;
    this.#tail = tail;
    this.#row = row;
    this.#net = net;
  }

  async start(): Promise<void> {
    const { name, work, flags } = this.#row;
    const address = `${this.#net}.${++this.#started}`;
    const proxy = await tcpProxy(Number(this.#server.client.url.port), address);
    this.#proxies.push(proxy);
    const { flags: own = [], ...o } = optionsOf(this.#server, work);
    const url = `https://127.0.0.1:${proxy.port}`;
    const member = await startControllers(this.#server, {
      ...o,
      command: name,
      user: userOf(name),
      url,
      flags: [...own, ...flags, ...LEASE],
    });
    this.#members.set(address, member);
    void member.exited.then(({ code }) => (code === 1 && !this.#isOver ? this.start() : undefined));
  }

  /** Waits for one to work on what its controllers are for, from now on. @param other One that it is not. */
  async worker(other?: ControllerProcess): Promise<ControllerProcess> {
    const since = this.#tail.read().length;
    const isWork = (event: ShownEvent): boolean =>
      this.wrote(event) && !isElection(event) && !isIdentity(event) && this.#members.get(addressIn(event)) !== other;
    try {
      const event = await this.#tail.until(isWork, since, PATIENCE_MS);
      return this.#members.get(addressIn(event)) ?? assert.fail();
    } catch (err) {
      const logs = [...this.#members.values()].map((it) => it.stderr()).join('\n\n');
      throw new Error(`Nothing is done by ${this.#row.name}: ${logs}`, { cause: err });
    }
  }

  wrote(event: ShownEvent): boolean {
    return isWrite(event) && isSuccess(event) && addressIn(event).startsWith(`${this.#net}.`);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const it of this.#members.values()) it.kill('SIGKILL');
    await Promise.all([...this.#members.values()].map(({ exited }) => exited));
    await Promise.all(this.#proxies.map((it) => it.close()));
  }
}

const addressIn = ({ sourceIPs }: ShownEvent): string => sourceIPs[0] ?? '';

const inOrder = (one: ShownEvent, other: ShownEvent): number =>
  one.requestReceivedTimestamp < other.requestReceivedTimestamp ? -1 : 1;

/** How a controller comes to its own identity. */
const isIdentity = ({ objectRef }: ShownEvent): boolean => objectRef?.['resource'] === 'serviceaccounts' && objectRef['namespace'] === 'platform-system'; // prettier-ignore
const isElection = ({ objectRef }: ShownEvent): boolean => objectRef?.['resource'] === 'leases';
