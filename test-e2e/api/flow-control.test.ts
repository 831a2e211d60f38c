import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { startEtcd } from '../../services/storage/testing/start-etcd.js';
import { Access, on, tokenFile, type TestUser } from './tools/access.js';
import type { Client, Reply } from './tools/client.js';
import type { Document } from './tools/document.js';
import { bytesOf, MERGE } from './tools/client.js';
import { configMap, configMapsIn, created, eventually, ok, refused } from './tools/objects.js';
import { onServer, TestServer, type StoreName } from './tools/server.js';

const OWN = 'a-token-for-tests';
const GROUP = 'flowcontrol.apiserver.k8s.io';
const BASE = `/apis/${GROUP}/v1beta2`;
const LEVELS = `${BASE}/prioritylevelconfigurations`;
const SCHEMAS = `${BASE}/flowschemas`;
const KEPT = 'apf.kubernetes.io/autoupdate-spec';
/** Longer than any test takes. */
const FOR_EVER = '--request-queue-timeout=10m';

const TINY = ['--max-requests-inflight=1', '--max-mutating-requests-inflight=1'];
const flags = (...more: readonly string[]): readonly string[] => [
  `--token-auth-file=${tokenFile(OWN)}`,
  '--vocabulary=kubernetes',
  ...TINY,
  ...more,
];

/** A write that is under way until its last byte is sent: it holds its seat for as long. */
class Held {
  readonly #req: ReturnType<typeof https.request>;
  readonly #rest: Buffer;
  readonly #answer: Promise<IncomingMessage>;

  constructor(client: Client, namespace: string, name: string) {
    const body = bytesOf(configMap(name));
    this.#req = https.request({
      host: client.url.hostname,
      port: client.url.port,
      method: 'POST',
      path: configMapsIn(namespace),
      agent: false,
      rejectUnauthorized: false,
      headers: {
        authorization: `Bearer ${client.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    this.#answer = once(this.#req, 'response').then(([res]) => res as IncomingMessage);
    this.#answer.catch(() => undefined); // looked at in the end
    this.#req.write(body.subarray(0, 10));
    this.#rest = body.subarray(10);
  }

  /** @returns The code of the answer. */
  async end(): Promise<number> {
    this.#req.end(this.#rest);
    const res = await this.#answer;
    res.resume();
    return res.statusCode ?? 0;
  }

  leave(): void {
    this.#req.destroy();
  }
}

const level = (name: string, queueLength: number, shares = 1): object => ({
  apiVersion: `${GROUP}/v1beta2`,
  kind: 'PriorityLevelConfiguration',
  metadata: { name },
  spec: {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: shares,
      limitResponse:
        queueLength === 0
          ? { type: 'Reject' }
          : { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: queueLength } },
    },
  },
});

const schema = (name: string, levelName: string, user: string): object => ({
  apiVersion: `${GROUP}/v1beta2`,
  kind: 'FlowSchema',
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence: 50,
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: user } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
      },
    ],
  },
});

const tooMany = (reply: Reply): void => {
  const { details } = refused(reply, 429, 'TooManyRequests', /^Too many requests, please try again later\.$/);
  assert.deepEqual(details, { retryAfterSeconds: 1 });
  assert.equal(reply.headers['retry-after'], '1');
};

const dangling = ({ status }: Document): string | undefined =>
  (status as { conditions?: readonly { type: string; status: string }[] }).conditions?.find(
    ({ type }) => type === 'Dangling',
  )?.status;

const objectsOf = async (client: Client): Promise<readonly Document[]> => [
  ...ok(await client.get(LEVELS)).items,
  ...ok(await client.get(SCHEMAS)).items,
];
/** Those that servers make and keep. */
const firstOf = async (client: Client): Promise<readonly Document[]> =>
  (await objectsOf(client)).filter(({ metadata }) => metadata.annotations?.[KEPT] === 'true');
/** Of the first objects, once each has its status. */
const firstVersions = (client: Client): Promise<string[]> =>
  eventually(async () => {
    const all = await firstOf(client);
    if (all.some((object) => object.kind === 'FlowSchema' && dangling(object) === undefined)) return undefined;
    return all.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  });

type CrowdedUser = TestUser & { readonly hold: (name: string) => Promise<Held> };

/** Users with levels of their own on one server. The server follows what is written: it is waited for. */
class Crowds {
  readonly #server: () => TestServer;
  readonly #access: Access;

  constructor(server: () => TestServer, access: Access) {
    this.#server = server;
    this.#access = access;
  }

  executing(name: string, count: number): Promise<true> {
    return this.#counts('current_executing_requests', { flow_schema: name }, count);
  }
  waiting(name: string, count: number): Promise<true> {
    return this.#counts('current_inqueue_requests', { flow_schema: name }, count);
  }
  seats(name: string, count: number): Promise<true> {
    return this.#counts('request_concurrency_limit', { priority_level: name }, count);
  }

  #counts(metric: string, labels: Readonly<Record<string, string>>, count: number): Promise<true> {
    const look = (): Promise<number> => this.#server().metric(`apiserver_flowcontrol_${metric}`, labels);
    return eventually(async () => (await look()) === count || undefined);
  }

  /** A user with a level of one seat, and rights on config maps in his namespace. */
  async newUser(queueLength: number): Promise<CrowdedUser> {
    const { admin } = this.#access;
    const user = await this.#access.newUser();
    await this.#access.grant(user.name, user.namespace, on('get,list,watch,create', 'configmaps'));
    const { metadata } = created(await admin.post(LEVELS, level(user.name, queueLength)));
    created(await admin.post(SCHEMAS, schema(user.name, user.name, user.name)));
    await eventually(async () => {
      const { headers } = await user.client.get(configMapsIn(user.namespace));
      return headers['x-kubernetes-pf-prioritylevel-uid'] === metadata.uid || undefined;
    });
    const hold = async (name: string): Promise<Held> => {
      const held = new Held(user.client, user.namespace, name);
      await this.executing(user.name, 1);
      return held;
    };
    return { ...user, hold };
  }
}

for (const store of ['embedded', 'etcd'] as const satisfies readonly StoreName[]) {
  onServer(`flow control (${store} store)`, { store, flags: flags(FOR_EVER) }, (server) => {
    const access = new Access(server, 'kubernetes');
    const crowds = new Crowds(server, access);

    describe('the first objects', () => {
      it('are there once the server is ready', async () => {
        assert.match((await access.admin.get('/readyz?verbose')).text, /priority-and-fairness-config-producer ok/);
        assert.equal((await firstOf(access.admin)).length, 8 + 13);
        await eventually(async () => {
          const schemas = (await firstOf(access.admin)).filter(({ kind }) => kind === 'FlowSchema');
          return schemas.every((object) => dangling(object) === 'False') || undefined;
        });
      });

      it('come back when somebody deletes them', async () => {
        for (const path of [`${SCHEMAS}/exempt`, `${LEVELS}/catch-all`, `${SCHEMAS}/probes`, `${LEVELS}/node-high`]) {
          const { metadata } = ok(await access.admin.get(path));
          ok(await access.admin.delete(path));
          ok(await access.admin.get('/api/v1/nodes'));
          const back = await eventually(async () => {
            const reply = await access.admin.get(path);
            return reply.code === 200 ? reply.body : undefined;
          });
          assert.notEqual(back.metadata.uid, metadata.uid);
        }
      });

      it('are refused other specs where they are mandatory, and take them where they are proposed', async () => {
        const shares = (n: number): object => ({ spec: { limited: { assuredConcurrencyShares: n } } });
        refused(await access.admin.patch(`${LEVELS}/catch-all`, shares(7)), 422, 'Invalid');
        ok(await access.admin.patch(`${LEVELS}/system`, { metadata: { annotations: { [KEPT]: null } } }));
        ok(await access.admin.patch(`${LEVELS}/system`, { metadata: { annotations: { [KEPT]: 'false' } }, ...shares(31) })); // prettier-ignore
        ok(await access.admin.delete(`${LEVELS}/workload-low`)); // whatever is looked at after this was looked at with it
        await eventually(async () =>
          (await access.admin.get(`${LEVELS}/workload-low`)).code === 200 ? true : undefined,
        );
        const { spec } = ok(await access.admin.get(`${LEVELS}/system`));
        assert.deepEqual((spec['limited'] as { assuredConcurrencyShares: number }).assuredConcurrencyShares, 31);
        ok(await access.admin.patch(`${LEVELS}/system`, { metadata: { annotations: { [KEPT]: 'true' } } }));
        await eventually(async () => {
          const { spec: restored } = ok(await access.admin.get(`${LEVELS}/system`));
          return (
            (restored['limited'] as { assuredConcurrencyShares: number }).assuredConcurrencyShares === 30 || undefined
          );
        });
      });

      it('are removed when they are ours and proposed no more', async () => {
        const old = schema('of-an-older-release', 'system', 'nobody') as { metadata: object };
        created(await access.admin.post(SCHEMAS, { ...old, metadata: { ...old.metadata, annotations: { [KEPT]: 'true' } } })); // prettier-ignore
        await eventually(
          async () => (await access.admin.get(`${SCHEMAS}/of-an-older-release`)).code === 404 || undefined,
        );
      });
    });

    it('says of a schema whether its level is missing', async () => {
      created(await access.admin.post(SCHEMAS, schema('early', 'late', 'nobody')));
      const says = (status: string): Promise<true> =>
        eventually(async () => dangling(ok(await access.admin.get(`${SCHEMAS}/early`))) === status || undefined);
      await says('True');
      created(await access.admin.post(LEVELS, level('late', 0)));
      await says('False');
      ok(await access.admin.delete(`${LEVELS}/late`));
      await says('True');
      ok(await access.admin.delete(`${SCHEMAS}/early`));
    });

    it('says with each answer how it was sorted, also with a refusal', async () => {
      const { client, namespace } = await access.newUser();
      const reply = await client.get(configMapsIn(namespace));
      refused(reply, 403, 'Forbidden');
      const uidOf = async (path: string): Promise<string> => ok(await access.admin.get(path)).metadata.uid;
      assert.equal(reply.headers['x-kubernetes-pf-flowschema-uid'], await uidOf(`${SCHEMAS}/global-default`));
      assert.equal(reply.headers['x-kubernetes-pf-prioritylevel-uid'], await uidOf(`${LEVELS}/global-default`));
      const watch = await access.admin.get('/livez');
      assert.equal(watch.headers['x-kubernetes-pf-flowschema-uid'], await uidOf(`${SCHEMAS}/exempt`));
    });

    it('refuses who has too many requests, and nobody else', async () => {
      const user = await crowds.newUser(0);
      const other = await access.newUser();
      await access.grant(other.name, other.namespace, on('list', 'configmaps'));
      const held = await user.hold('a');
      tooMany(await user.client.get(configMapsIn(user.namespace)));
      tooMany(await user.client.post(configMapsIn(user.namespace), configMap('b')));
      ok(await other.client.get(configMapsIn(other.namespace)));
      ok(await access.admin.get(configMapsIn(user.namespace)));
      ok(await user.client.get('/readyz'));
      assert.equal(await held.end(), 201);
      ok(await user.client.get(configMapsIn(user.namespace)));
      assert.equal(await server().metric('apiserver_flowcontrol_rejected_requests_total', { flow_schema: user.name, reason: 'concurrency-limit' }), 2); // prettier-ignore
      assert.equal(await server().metric('apiserver_flowcontrol_request_concurrency_limit', { priority_level: user.name }), 1); // prettier-ignore
    });

    it('sorts a request as that of the user whom somebody acts as', async () => {
      const user = await crowds.newUser(0);
      const held = await user.hold('a');
      tooMany(await access.admin.get(configMapsIn(user.namespace), { 'Impersonate-User': user.name }));
      ok(await access.admin.get(configMapsIn(user.namespace)));
      assert.equal(await held.end(), 201);
    });

    it('lets requests wait, as many as the queue takes', async () => {
      const user = await crowds.newUser(1);
      const held = await user.hold('a');
      const next = user.client.get(configMapsIn(user.namespace));
      await crowds.waiting(user.name, 1);
      tooMany(await user.client.get(configMapsIn(user.namespace)));
      await crowds.waiting(user.name, 1);
      assert.equal(await held.end(), 201);
      ok(await next);
    });

    it('gives the place of who leaves to another', async () => {
      const user = await crowds.newUser(1);
      const held = await user.hold('a');
      const leaves = new AbortController();
      const left = user.client.request('GET', configMapsIn(user.namespace), { signal: leaves.signal });
      await crowds.waiting(user.name, 1);
      leaves.abort();
      await assert.rejects(left);
      await crowds.waiting(user.name, 0);
      const next = user.client.get(configMapsIn(user.namespace));
      await crowds.waiting(user.name, 1);
      held.leave(); // with half of a body: nothing comes of it, and its seat is free
      ok(await next);
      await crowds.executing(user.name, 0);
    });

    it('takes new limits up at once, also for those who wait', async () => {
      const user = await crowds.newUser(1);
      const held = await user.hold('a');
      const patch = (change: object): Promise<Reply> => access.admin.patch(`${LEVELS}/${user.name}`, { spec: { limited: change } }, MERGE); // prettier-ignore
      const next = user.client.get(configMapsIn(user.namespace));
      await crowds.waiting(user.name, 1);
      ok(await patch({ assuredConcurrencyShares: 100_000 })); // both seats of the server
      ok(await next);
      ok(await patch({ assuredConcurrencyShares: 1, limitResponse: { type: 'Reject', queuing: null } }));
      await crowds.seats(user.name, 1);
      tooMany(await user.client.get(configMapsIn(user.namespace)));
      ok(await access.admin.delete(`${LEVELS}/${user.name}`));
      const listed = (): Promise<Reply> => user.client.get(configMapsIn(user.namespace));
      await eventually(async () => (await listed()).code === 200 || undefined); // at another level now
      assert.equal(await held.end(), 201);
    });

    it('has watches hold no seats', async () => {
      const user = await crowds.newUser(0);
      const watches = [];
      for (let i = 0; i < 3; i++) watches.push(await user.client.watch(`${configMapsIn(user.namespace)}?watch=1`));
      assert.deepEqual(
        watches.map(({ code }) => code),
        [200, 200, 200],
      );
      created(await user.client.post(configMapsIn(user.namespace), configMap('a')));
      for (const watch of watches) assert.equal((await watch.next()).object.metadata.name !== '', true);
      for (const watch of watches) watch.close();
    });

    it('only reads when it starts again', async () => {
      const before = await firstVersions(access.admin);
      await server().restart();
      ok(await access.admin.get('/readyz'));
      assert.deepEqual(await firstVersions(access.admin), before);
    });
  });
}

onServer(
  'a queue of flow control whose time is short',
  { store: 'embedded', flags: flags('--request-queue-timeout=100ms') },
  (server) => {
    const crowds = new Crowds(server, new Access(server, 'kubernetes'));

    it('refuses those that wait too long', async () => {
      const user = await crowds.newUser(1);
      const held = await user.hold('a');
      tooMany(await user.client.get(configMapsIn(user.namespace)));
      await crowds.waiting(user.name, 0);
      assert.equal(await held.end(), 201);
      ok(await user.client.get(configMapsIn(user.namespace)));
    });
  },
);

onServer(
  'two limits in place of flow control',
  { store: 'embedded', flags: flags('--enable-priority-and-fairness=false') },
  (server) => {
    // prettier-ignore
    const access = new Access(server, 'kubernetes');

    it('refuse what is too much of its kind, and nothing of the other, and never an administrator', async () => {
      const user = await access.newUser();
      await access.grant(user.name, user.namespace, on('list,create,watch', 'configmaps'));
      const held = new Held(user.client, user.namespace, 'a');
      await eventually(async () => (await server().metric('apiserver_current_inflight_requests', { request_kind: 'mutating' })) === 1 || undefined); // prettier-ignore
      const refusal = await user.client.post(configMapsIn(user.namespace), configMap('b'));
      tooMany(refusal);
      assert.equal(refusal.headers['x-kubernetes-pf-flowschema-uid'], undefined);
      const watch = await user.client.watch(`${configMapsIn(user.namespace)}?watch=1`);
      ok(await user.client.get(configMapsIn(user.namespace)));
      created(await access.admin.post(configMapsIn(user.namespace), configMap('c')));
      assert.equal(await held.end(), 201);
      created(await user.client.post(configMapsIn(user.namespace), configMap('b')));
      watch.close();
    });
  },
);

describe('flow control of two servers', function () {
  this.timeout(90_000);

  it('keeps one set of objects, and does not write them again and again', async () => {
    const etcd = await startEtcd();
    const servers = await Promise.all(
      [0, 1].map(() => TestServer.start({ store: 'etcd', etcdUrl: etcd.url, flags: ['--vocabulary=kubernetes'] })),
    );
    try {
      const [one, two] = servers as [TestServer, TestServer];
      await eventually(async () => ((await two.client.get(`${LEVELS}/exempt`)).code === 200 ? true : undefined));
      ok(await one.client.delete(`${SCHEMAS}/exempt`));
      await eventually(async () => ((await two.client.get(`${SCHEMAS}/exempt`)).code === 200 ? true : undefined));
      const settled = await eventually(async () => {
        const before = await firstVersions(one.client);
        await new Promise((resolve) => setTimeout(resolve, 2_500)); // longer than a server rests between two looks
        const after = await firstVersions(two.client);
        return before.join() === after.join() ? after : undefined;
      }, 20_000);
      assert.equal(settled.length, 8 + 13);
      assert.doesNotMatch(one.log + two.log, /brought in line/);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
      await etcd.stop();
    }
  });
});
