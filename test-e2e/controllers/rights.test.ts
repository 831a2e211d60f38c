import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { GROUPS } from '../../services/controller-manager/groups.js';
import { flagsFor, place, type ShownEvent } from '../api/tools/audit.js';
import { eventually, ok } from '../api/tools/objects.js';
import { TestServer } from '../api/tools/server.js';
import { removeDirectory } from '../support/scratch.js';
import { AuditTail, userIn } from './tools/audit-tail.js';
import { startControllers, type ControllerProcess } from './tools/controller-process.js';
import { optionsOf, PROCESSES, userOf } from './tools/processes.js';
import { rightsFor, rightsOf, ruleOf, titleOf, type Right } from './tools/rights.js';
import { worksOn, type Work } from './tools/works.js';

const words = vocabulary('platform');
const POLICY = {
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', users: ['tester'] }, { level: 'Metadata' }],
};
/** Nobody takes over here. */
const LONG_LEASE = ['--leader-elect-lease-duration=120s', '--leader-elect-renew-deadline=100s', '--leader-elect-retry-period=500ms']; // prettier-ignore
/** Rights that are asked for beside the one to write. */
const BEYOND = [
  { said: /not permitted to approve requests with signerName "([^"]+)"/, verb: 'approve' },
  { said: /not permitted to sign requests with signerName "([^"]+)"/, verb: 'sign' },
  { said: /attempting to grant/, verb: 'escalate' },
];
const READING: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
/** Roles of the controllers' accounts are those of other servers, whose controllers can run under the same accounts. */
const UNUSED: readonly { readonly why: string; readonly is: (right: Right) => boolean }[] = [
  { why: 'informers ask as the process', is: (it) => isAccount(it) && READING.has(it.verb) && !USED.has(nameOf(it)) },
  { why: 'nothing is to be told by events', is: (it) => it.resource === 'events' && !USED.has(nameOf(it)) },
  { why: 'a process that begins a watch with the state lists nothing', is: (it) => !isAccount(it) && it.verb === 'list' }, // prettier-ignore
  { why: 'rules are applied', is: isOne('clusterrole-aggregation-controller: update clusterroles.rbac.authorization.platform.io') }, // prettier-ignore
  { why: 'references and finalizers are patched', is: isOne('generic-garbage-collector: update *.*') },
  { why: 'only for types whose collections cannot be deleted', is: isOne('namespace-controller: delete *.*') },
  { why: 'namespaces go by themselves', is: isOne('namespace-controller: delete namespaces') },
  { why: 'no version that is served takes requests for it', is: isOne('certificate-controller: sign signers.certificates.platform.io platform.io/legacy-unknown') }, // prettier-ignore
];
/** What is read anew before a write, and what only a request can tell. */
const USED: ReadonlySet<string> = new Set([
  'generic-garbage-collector: create events.events.platform.io',
  'generic-garbage-collector: get *.*',
  'generic-garbage-collector: list *.*',
  'namespace-controller: get namespaces',
  'namespace-controller: list *.*',
  'pv-protection-controller: get persistentvolumes',
  'pvc-protection-controller: get persistentvolumeclaims',
  'pvc-protection-controller: list pods',
  'resourcequota-controller: list *.*',
]);
const PIECES = 3;
const PATIENCE_MS = 150_000;

describe('rights of controllers', function () {
  this.timeout(400_000);
  const { dir, ...audit } = place(POLICY);
  const accounts = GROUPS.flatMap(({ controllers }) => controllers.map(({ account }) => account as string));
  const accountUser = (name: string): string => `system:serviceaccount:${words.namespaces.system}:${name}`;
  const users = new Set([...accounts.filter((it) => it !== '').map(accountUser), ...PROCESSES.map(userOf)]);
  const granted = rightsOf(words, users);
  /** Those that were missing when a controller asked, in that order; each was given then. */
  const missed = new Set<Right>();
  /** What was refused that no role is meant to allow. */
  const strange: string[] = [];
  const processes: ControllerProcess[] = [];
  let server: TestServer;
  let tail: AuditTail;
  /** An event that is refused is lost: in the first works nobody looks for one. */
  let first: readonly Work[];
  let second: readonly Work[];
  let refusedWithAll: readonly string[];

  before(async () => {
    server = await TestServer.start({ store: 'embedded', flags: flagsFor(audit) });
    tail = new AuditTail(audit.log);
    first = Object.values(worksOn(server.client, false));
    second = Object.values(worksOn(server.client, true));
    await Promise.all(rolesOf(granted).map((path) => setRules(path, [])));
    for (const name of PROCESSES) {
      const o = optionsOf(server, name);
      processes.push(await startControllers(server, { ...o, flags: [...(o.flags ?? []), ...LONG_LEASE] }));
    }
    const making = Promise.all(first.map((work) => makeAll(work, 0)));
    await giveWhatIsMissed();
    await making;
    await Promise.all(
      rolesOf(granted).map((path) =>
        setRules(
          path,
          granted.filter(({ role }) => role.path === path),
        ),
      ),
    );
    const since = tail.read().length;
    await Promise.all(second.map((work) => makeAll(work, PIECES)));
    await eventually(async () => ((await isWrong(second, PIECES)) === '' ? true : undefined), PATIENCE_MS);
    refusedWithAll = tail.read().slice(since).filter(isRefused).map(told);
  });
  after(async () => {
    for (const it of processes) it.kill('SIGKILL');
    await Promise.all(processes.map(({ exited }) => exited));
    await server.close();
    removeDirectory(dir);
  });

  async function makeAll(work: Work, from: number): Promise<void> {
    for (let i = from; i < from + PIECES; i++) await work.make(i);
  }

  async function isWrong(works: readonly Work[], from: number): Promise<string> {
    for (const work of works) {
      for (let i = from; i < from + PIECES; i++) {
        const wrong = await work.wrong(i).catch(String);
        if (wrong !== '') return wrong;
      }
    }
    return '';
  }

  const rolesOf = (rights: readonly Right[]): string[] => [...new Set(rights.map(({ role }) => role.path))];

  async function setRules(path: string, rights: readonly Right[]): Promise<void> {
    ok(await server.client.patch(path, { rules: rights.map(ruleOf) }));
  }

  /** Gives each right when the lack of it is seen, until all work is done. */
  async function giveWhatIsMissed(): Promise<void> {
    let read = 0;
    let wrong = 'nothing was looked at';
    const round = async (): Promise<true | undefined> => {
      const refused = tail.read().slice(read).filter(isRefused);
      read = tail.events.length;
      for (const event of refused) await give(event);
      if (refused.length > 0) return undefined;
      for (const it of processes) await it.ask('/metrics', { authorization: `Bearer ${server.client.token}` });
      wrong = await isWrong(first, 0);
      return wrong === '' ? true : undefined;
    };
    await eventually(round, PATIENCE_MS).catch((err: unknown) => {
      throw new Error(`${wrong}; given: ${[...missed].map(titleOf).join(', ')}; ${strange.join(', ')}`, { cause: err });
    });
  }

  async function give(event: ShownEvent): Promise<void> {
    const right = missedIn(event);
    if (right === undefined || missed.has(right)) return;
    missed.add(right);
    await setRules(right.role.path, [...missed].filter(({ role }) => role.path === right.role.path)); // prettier-ignore
  }

  function missedIn(event: ShownEvent): Right | undefined {
    const rights = rightsFor(event, granted);
    if (rights.length === 0) strange.push(told(event));
    const message = String(event.responseStatus?.['message']);
    const own = granted.filter(({ user }) => user === userIn(event));
    for (const { said, verb } of BEYOND) {
      const [isSaid, name = ''] = said.exec(message) ?? [];
      if (isSaid !== undefined) return own.find((it) => it.verb === verb && it.name === name);
    }
    return rights[0];
  }

  it('are all that they need', () => {
    assert.deepEqual(strange, []);
    assert.deepEqual(refusedWithAll, []);
  });

  for (const path of rolesOf(granted)) {
    it(`${path}: nothing is done without each of them`, () => {
      const of = (rights: readonly Right[]): string[] => rights.filter(({ role }) => role.path === path).map(titleOf).sort(); // prettier-ignore
      assert.deepEqual(of([...missed]), of(granted.filter((it) => !UNUSED.some(({ is }) => is(it)))));
    });
  }
});

const nameOf = (right: Right): string => `${right.user.split(':').at(-1) ?? ''}: ${titleOf(right)}`;

const isAccount = ({ user }: Right): boolean => user.startsWith('system:serviceaccount:');

function isOne(name: string): (right: Right) => boolean {
  return (right) => nameOf(right) === name;
}

/** For want of a right; what is being deleted takes nothing new from anybody. */
const isRefused = ({ responseStatus }: ShownEvent): boolean =>
  responseStatus?.['code'] === 403 && !String(responseStatus['message']).includes('is being terminated');

const told = (event: ShownEvent): string => {
  const { apiGroup = '', resource = '', subresource = '', namespace = '', name = '' } = event.objectRef ?? {};
  return `${userIn(event)}: ${event.verb} ${apiGroup} ${resource}/${subresource} ${namespace}/${name}`;
};
