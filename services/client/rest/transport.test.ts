import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Credentials } from '../credentials/credential.js';
import { fixed } from '../credentials/fixed.js';
import { TestAuthority } from '../testing/certificates.js';
import { answerJson, startTlsService, type Received, type TlsService } from '../testing/tls-service.js';
import { builtInTypes } from './built-in-types.js';
import type { ApiClient, ObjectList } from './client.js';
import { openApiClient, type ClientOptions } from './open-client.js';
import type { AnyObject } from './resource-type.js';
import { Servers } from './servers.js';

const TOKEN = 'a-token-that-nobody-may-see';
const words = vocabulary('platform');
const types = builtInTypes(words);
const never = new AbortController().signal;

const status = (code: number, reason: string): object => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `it is ${reason}` }); // prettier-ignore

describe('clients of the API', () => {
  const authority = new TestAuthority('ca');
  const pair = authority.issue('server', 'DNS:localhost');
  after(() => authority.remove());
  let service: TlsService;
  let client: ApiClient;
  const open = (o: Partial<ClientOptions> = {}): ApiClient =>
    openApiClient({
      servers: [new URL(service.url)],
      trust: { authorities: authority.cert, serverName: undefined, insecure: false },
      credentials: fixed({ headers: { authorization: `Bearer ${TOKEN}` } }),
      userAgent: 'a test',
      vocabulary: words,
      ...o,
    });
  beforeEach(async () => {
    service = await startTlsService(pair, (_, res) => answerJson(res, { metadata: { name: 'a' } }));
    client = open();
  });
  afterEach(async () => {
    client.close();
    await service.close();
  });

  const get = (signal = never): Promise<AnyObject> => client.resource(types.configMaps).get({ namespace: 'n', name: 'a' }, signal); // prettier-ignore
  const create = (): Promise<AnyObject> => client.resource(types.configMaps).create({ metadata: { namespace: 'n', name: 'a' } }, {}, never); // prettier-ignore
  const list = (limit = 2): Promise<ObjectList<AnyObject>> => client.resource(types.pods).list({ limit }, never);
  /** Answers in this order, the last one from then on. */
  const answers = (...each: ((res: ServerResponse, received: Received) => void)[]): void => {
    let asked = 0;
    service.answer = (received, res) => each[Math.min(asked++, each.length - 1)]?.(res, received);
  };
  const refusal =
    (code: number, reason: string, after?: string) =>
    (res: ServerResponse): void => {
      if (after !== undefined) res.setHeader('retry-after', after);
      answerJson(res, status(code, reason), code);
    };
  const fine = (res: ServerResponse): void => answerJson(res, { metadata: { name: 'a' } });
  const lost = (res: ServerResponse): void => void res.destroy();

  it('send what objects and options say', async () => {
    const { configMaps } = types;
    const name = { namespace: 'n', name: 'a/b' };
    const requests = client.resource(configMaps);
    const object = { metadata: name, data: { x: 'y' } };
    const all = { dryRun: true, fieldManager: 'me & you' };
    await requests.get(name, never);
    await requests.create(object, {}, never);
    await requests.update(object, { ...all, subresource: 'status' }, never);
    await requests.patch(name, 'json', [], all, never);
    await requests.patch(name, 'merge', {}, {}, never);
    await requests.patch(name, 'strategic', {}, {}, never);
    await requests.apply(object, { fieldManager: 'me', force: true }, never);
    await requests.delete(name, { propagationPolicy: 'Orphan', preconditions: { uid: 'u' }, dryRun: true }, never);
    await requests.deleteCollection({ namespace: 'n', labelSelector: 'a=b' }, never);
    await client.resource(types.serviceAccounts).post(name, 'token', { kind: 'TokenRequest' }, never);
    await client.metadata(configMaps).get(name, never);
    const whole = { kind: 'ConfigMap', apiVersion: 'v1', ...object };
    const path = '/api/v1/namespaces/n/configmaps';
    const options = { kind: 'DeleteOptions', apiVersion: 'v1' };
    const seen = service.received.map(({ method, path, headers, body }) => [method, path, headers['content-type'], body === '' ? undefined : (JSON.parse(body) as unknown)]); // prettier-ignore
    assert.deepEqual(seen, [
      ['GET', `${path}/a%2Fb`, undefined, undefined],
      ['POST', path, 'application/json', whole],
      ['PUT', `${path}/a%2Fb/status?dryRun=All&fieldManager=me%20%26%20you`, 'application/json', whole],
      ['PATCH', `${path}/a%2Fb?dryRun=All&fieldManager=me%20%26%20you`, 'application/json-patch+json', []],
      ['PATCH', `${path}/a%2Fb`, 'application/merge-patch+json', {}],
      ['PATCH', `${path}/a%2Fb`, 'application/strategic-merge-patch+json', {}],
      ['PATCH', `${path}/a%2Fb?fieldManager=me&force=true`, 'application/apply-patch+yaml', whole],
      ['DELETE', `${path}/a%2Fb`, 'application/json', { ...options, propagationPolicy: 'Orphan', preconditions: { uid: 'u' }, dryRun: ['All'] }], // prettier-ignore
      ['DELETE', `${path}?labelSelector=a%3Db`, 'application/json', options],
      ['POST', '/api/v1/namespaces/n/serviceaccounts/a%2Fb/token', 'application/json', { kind: 'TokenRequest' }],
      ['GET', `${path}/a%2Fb`, undefined, undefined],
    ]);
    const { headers } = service.received.at(-1) ?? assert.fail();
    assert.equal(headers.accept, 'application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1, application/json');
    assert.deepEqual([headers['user-agent'], headers.authorization], ['a test', `Bearer ${TOKEN}`]);
    assert.throws(() => requests.get({ namespace: 'n', name: '' }, never), TypeError);
  });

  it('give objects their kind, and leave out all but metadata where that is asked for', async () => {
    service.answer = (_, res) => answerJson(res, { metadata: { resourceVersion: '7' }, items: [{ metadata: { name: 'a' }, spec: {} }] }); // prettier-ignore
    const kinds = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } };
    assert.deepEqual(await list(), { items: [{ ...kinds, spec: {} }], resourceVersion: '7' });
    assert.deepEqual((await client.metadata(types.pods).list({}, never)).items, [kinds]);
  });

  describe('that list', () => {
    const page = (names: readonly string[], next?: string): ((res: ServerResponse) => void) => (res) =>
      answerJson(res, { metadata: { resourceVersion: '7', continue: next }, items: names.map((name) => ({ metadata: { name } })) }); // prettier-ignore
    const namesOf = ({ items }: ObjectList<AnyObject>): unknown[] => items.map(({ metadata }) => metadata?.name);
    const asked = (): (string | undefined)[] => service.received.map(({ path }) => path.split('?')[1]);

    it('join pages', async () => {
      answers(page(['a', 'b'], 'x y'), page(['c']));
      const o = { limit: 2, resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' } as const;
      assert.deepEqual(namesOf(await client.resource(types.pods).list(o, never)), ['a', 'b', 'c']);
      assert.deepEqual(asked(), [
        'limit=2&resourceVersion=5&resourceVersionMatch=NotOlderThan',
        'limit=2&continue=x%20y',
      ]);
    });

    it('begin anew in one page when a token has expired, once', async () => {
      answers(page(['a', 'b'], 'x'), refusal(410, 'Expired'), page(['d', 'e', 'f']));
      assert.deepEqual(namesOf(await list()), ['d', 'e', 'f']);
      assert.deepEqual(asked(), ['limit=2', 'limit=2&continue=x', 'limit=0']);
      answers(refusal(410, 'Expired'));
      await assert.rejects(list(), { code: 410, reason: 'Expired' });
    });
  });

  describe('that are refused', () => {
    it('say what the server said, and no secret', async () => {
      answers(refusal(404, 'NotFound'));
      await assert.rejects(get(), { name: 'ApiError', code: 404, reason: 'NotFound', message: 'it is NotFound', retryAfterMs: undefined }); // prettier-ignore
      answers((res) => void res.writeHead(502, { 'content-type': 'text/html' }).end('<html>'));
      await assert.rejects(get(), { name: 'ApiError', code: 502, reason: '', message: /status 502/ });
      answers((res) => void res.writeHead(302, { location: 'https://elsewhere' }).end());
      await assert.rejects(get(), { name: 'RemoteError', failure: 'answer' });
      answers((res) => void res.end('{"secret'));
      const shown = (err: Error): boolean => !`${err.stack ?? ''} ${JSON.stringify(err)}`.includes('secret');
      await assert.rejects(get(), (err: Error) => err.name === 'RemoteError' && shown(err));
    });

    it('ask again when the server says when, writes too where nothing was done', async () => {
      for (const code of [429, 503]) {
        answers(refusal(code, 'Busy', '0'), refusal(code, 'Busy', '0'), fine);
        await create();
      }
      answers(refusal(500, 'Busy', '0'), fine);
      await get();
      assert.equal(service.received.length, 8);
      answers(refusal(500, 'Busy', '0'), fine);
      await assert.rejects(create(), { code: 500, retryAfterMs: 0 }); // it may have been done
      answers(refusal(503, 'Busy'), fine);
      await assert.rejects(get(), { code: 503 });
      assert.equal(service.received.length, 10);
    });

    it('ask again within bounds', async () => {
      answers(refusal(429, 'Busy', '0'));
      await assert.rejects(get(), { code: 429 });
      assert.equal(service.received.length, 11);
      answers(refusal(429, 'Busy', '3600'));
      await assert.rejects(get(), { code: 429, retryAfterMs: 3_600_000 }); // and not in an hour
    });

    it('show another credential once, if there is one', async () => {
      let token = 'old';
      const refused: string[] = [];
      const credentials: Credentials = {
        current: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` }, certificateVersion: 0 }),
        refused: ({ headers }) => {
          token = 'new';
          return refused.push(headers['authorization'] ?? '') === 1;
        },
        close: () => undefined,
      };
      client.close();
      client = open({ credentials });
      service.answer = ({ headers }, res) => (headers.authorization === 'Bearer new' ? fine(res) : refusal(401, 'Unauthorized')(res)); // prettier-ignore
      await create();
      token = 'old';
      await assert.rejects(get(), { code: 401 });
      assert.deepEqual([refused, service.received.length], [['Bearer old', 'Bearer old'], 3]);
    });
  });

  describe('whose answer is lost', () => {
    it('ask again, but write only once', async () => {
      answers(lost, fine);
      await get();
      assert.equal(service.received.length, 2);
      answers(lost, fine);
      await assert.rejects(create(), { name: 'RemoteError', failure: 'connection', isUnsent: false });
      assert.equal(service.received.length, 3);
    });

    it('do not ask for ever', async () => {
      answers(lost);
      await assert.rejects(get(), { name: 'RemoteError' });
      assert.ok(service.received.length < 6);
    });
  });

  describe('with several addresses', () => {
    it('write to the next one where nobody listens', async () => {
      const other = await startTlsService(pair, (_, res) => fine(res));
      client.close();
      client = open({ servers: [new URL(service.url), new URL(other.url)] });
      try {
        await create();
        await service.close();
        await get(); // on a connection that has ended, of which a write may not know yet
        await create();
        assert.deepEqual([service.received.length, other.received.length], [1, 2]);
      } finally {
        await other.close();
        service = await startTlsService(pair, (_, res) => fine(res));
      }
    });

    describe('of which one says nothing', () => {
      const patience = { connectMs: 1_000, answerMs: 1_000, alive: { everyMs: 60_000, withinMs: 60_000 } };
      let other: TlsService;
      const openBoth = (first: string, o: Partial<ClientOptions> = {}): void => {
        client.close();
        client = open({ servers: [new URL(first), new URL(other.url)], patience, ...o });
      };
      beforeEach(async () => (other = await startTlsService(pair, (_, res) => fine(res))));
      afterEach(() => other.close());

      it('read and write elsewhere when it takes connections and does nothing with them', async () => {
        const sockets = new Set<Socket>();
        const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
        silent.listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const url = `https://localhost:${(silent.address() as AddressInfo).port}`;
        try {
          for (const ask of [create, get]) {
            openBoth(url);
            await ask();
          }
          assert.deepEqual(other.received.map(({ method }) => method), ['POST', 'GET']); // prettier-ignore
        } finally {
          for (const socket of sockets) socket.destroy();
          silent.close();
        }
      });

      it('read elsewhere when it takes requests, and never write twice', async () => {
        service.answer = () => undefined;
        openBoth(service.url);
        await get();
        assert.deepEqual([service.received.length, other.received.length], [1, 1]);
        openBoth(service.url, { timeoutMs: 1_500 });
        await assert.rejects(create(), { failure: 'timeout', isUnsent: false });
        assert.deepEqual([service.received.length, other.received.length], [2, 1]);
      });

      it('wait for the rest of an answer that has begun', async () => {
        service.answer = (_, res) => {
          res.writeHead(200, { 'content-type': 'application/json' }).write('{"metadata":');
          setTimeout(() => res.end('{"name":"late"}}'), 2 * patience.answerMs);
        };
        openBoth(service.url);
        assert.deepEqual([(await get()).metadata?.name, other.received.length], ['late', 0]);
      });

      it('wait for all of them in the end', async () => {
        let asked = 0;
        const late: TlsService['answer'] = (_, res) => void setTimeout(() => fine(res), ++asked < 4 ? 60_000 : 1_500).unref(); // prettier-ignore
        [service.answer, other.answer] = [late, late];
        openBoth(service.url);
        await get();
        assert.equal(asked, 4);
      });

      it('follow on elsewhere when a stream was cut', async () => {
        const event = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a' } } });
        service.answer = (_, res) => {
          res.writeHead(200, { 'content-type': 'application/json' }).write(`${event}\n`);
          setImmediate(() => res.destroy());
        };
        openBoth(service.url);
        const follow = async (): Promise<void> => {
          for await (const event of client.resource(types.pods).watch({}, never)) assert.equal(event.type, 'ADDED');
        };
        await assert.rejects(follow(), { failure: 'connection' });
        await get();
        assert.deepEqual([service.received.length, other.received.length], [1, 1]);
      });
    });

    it('prefer the first one that is not left alone, and come back to it', () => {
      let now = 0;
      const urls = ['a', 'b'].map((host) => new URL(`https://${host}`));
      const [first, second] = urls as [URL, URL];
      const servers = new Servers(urls, () => now);
      assert.equal(servers.current, first);
      servers.failed(first);
      assert.equal(servers.current, second);
      now = 1_500;
      servers.failed(second);
      assert.equal(servers.current, first); // the sooner of the two
      now = 2_500;
      servers.failed(first);
      now = 4_400;
      assert.equal(servers.current, second); // the first one waits for longer now
      now = 6_600;
      assert.equal(servers.current, first);
      servers.answered(first);
      servers.failed(first);
      now = 8_700;
      assert.equal(servers.current, first); // from the beginning
      assert.throws(() => new Servers([]));
    });

    it('are https addresses', () => {
      assert.throws(() => open({ servers: [new URL('http://localhost')] }), /https/);
    });
  });

  it('end with their signal, with their time and with the client', async () => {
    service.answer = () => undefined;
    const gone = new AbortController();
    const leaving = get(gone.signal);
    gone.abort(new Error('enough'));
    await assert.rejects(leaving, /enough/);
    const hasty = open({ timeoutMs: 50 });
    await assert.rejects(hasty.raw({ method: 'GET', path: '/x?secret' }, never), { failure: 'timeout', message: 'GET /x: no answer within 50 ms' }); // prettier-ignore
    hasty.close();
    const closing = get();
    setImmediate(() => client.close());
    await assert.rejects(closing, /closed/);
    await assert.rejects(get(), /closed/);
  });
});
