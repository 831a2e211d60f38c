import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { rbacAuthorizer } from '../../services/apiserver/authorization/rbac/rbac-authorizer.js';
import { on } from '../../services/machinery/rbac/testing/rules.js';
import {
  aGroup,
  ask,
  aUser,
  bind,
  GROUP,
  RbacScene,
  role,
  user,
} from '../../services/apiserver/authorization/rbac/testing/rbac-scene.js';
import { Connection, request, type Target } from './connection.js';
import { closedLoop } from './load.js';
import { cachedObject, CONNECTIONS, type Costed, type Subject } from './scenarios.js';
import { byTurns, type Asked } from './turns.js';

const { groups } = vocabulary('platform');
const RBAC = `/apis/${groups.rbac}/v1/namespaces`;
export const BINDINGS = 10_000;
const NAMESPACES = 100;
const ACCOUNT = 'system:serviceaccounts:bench';

const bindingBody = (name: string, subject: object): string =>
  JSON.stringify({
    apiVersion: `${groups.rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: groups.rbac, kind: 'ClusterRole', name: 'edit' },
    subjects: [subject],
  });

/** A service account that may edit one namespace, among many who may edit others. @returns Its token. */
async function populate(target: Target): Promise<string> {
  const connection = await Connection.open(target);
  const post = async (path: string, body: object | string): Promise<string> => {
    const { code } = await connection.ask(request('POST', path, { body: typeof body === 'string' ? body : JSON.stringify(body) })); // prettier-ignore
    if (code !== 201) throw new Error(`${path}: ${code} ${connection.firstBytes}`);
    return connection.firstBytes;
  };
  for (let n = 0; n < NAMESPACES; n++) {
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `team-${n}` } });
  }
  const accounts = '/api/v1/namespaces/bench/serviceaccounts';
  await post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader' } });
  await post(`${RBAC}/bench/rolebindings`, bindingBody('readers', { apiGroup: groups.rbac, kind: 'Group', name: ACCOUNT })); // prettier-ignore
  const issued = await post(`${accounts}/reader/token`, { kind: 'TokenRequest', apiVersion: `${groups.authentication}/v1`, spec: {} }); // prettier-ignore
  connection.close();
  await closedLoop({
    targets: [target],
    connections: CONNECTIONS,
    durationMs: 120_000,
    count: BINDINGS,
    next: (n) =>
      request('POST', `${RBAC}/team-${n % NAMESPACES}/rolebindings`, {
        body: bindingBody(`b-${n}`, { apiGroup: groups.rbac, kind: 'User', name: `user-${n}` }),
      }),
    expect: 201,
  });
  return (JSON.parse(issued) as { status: { token: string } }).status.token;
}

/**
 * Gets by a token whose holder has rights by a role, and beside it by the administrator's certificate, which costs next to
 * nothing to check. Both send the same number of bytes, so what differs is who asks and whether he may.
 */
export async function getWithRights(s: Subject): Promise<{ readonly bare: Costed; readonly checked: Costed }> {
  const token = await populate(s.target);
  const { host, port } = s.target;
  const withToken = { host, port };
  const header = { headers: `Authorization: Bearer ${token}\r\n` };
  const asLong = { headers: `X-As-Long: ${'x'.repeat(header.headers.length - 'X-As-Long: \r\n'.length)}\r\n` };
  const asked = (target: Target, headers: object): Asked => ({
    targets: [target],
    pids: [s.pid],
    next: (n) => request('GET', cachedObject(n), headers),
    expect: 200,
  });
  const [bare, checked] = await byTurns([asked(s.target, asLong), asked(withToken, header)], s.seconds);
  if (bare === undefined || checked === undefined) throw new Error('Nothing was measured');
  return { bare, checked };
}

/** Microseconds of a decision about a user in ten groups, when nobody has asked just this before. */
export function decisionMicros(): number {
  const teams = Array.from({ length: BINDINGS }, (_, n) => n);
  const scene = new RbacScene(
    ...teams.slice(0, 1000).map((n) => role(`team-${n}`, 'r', on('get,list,watch', 'configmaps,pods,services'))),
    ...teams.map((n) => bind(`team-${n % 1000}`, `b-${n}`, 'r', aUser(`user-${n}`), aGroup(`group-${n % 50}`))),
  );
  const authorizer = rbacAuthorizer(scene.index, GROUP);
  const asking = user('user-7', ...Array.from({ length: 10 }, (_, n) => `group-${n * 5}`));
  const decide = (n: number): void => {
    void authorizer.authorize(asking, ask('get', 'configmaps', `team-${n % 1000}`, `name-${n}`));
  };
  for (let n = 0; n < 20_000; n++) decide(n);
  const from = performance.now();
  const count = 100_000;
  for (let n = 0; n < count; n++) decide(20_000 + n);
  return ((performance.now() - from) * 1000) / count;
}
