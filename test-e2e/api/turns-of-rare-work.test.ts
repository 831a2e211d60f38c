import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Reply } from './tools/client.js';
import { configMapsIn, created, createConfigMap, newNamespace, ok } from './tools/objects.js';
import type { TestServer } from './tools/server.js';
import { MeasuredServer, TURN_MS } from './tools/turns.js';

const OBJECTS = 1_500;
const AT_ONCE = 20;
const LARGE_OBJECTS = 8;
const LARGE_BYTES = 400_000;
const EXTRAS = 9_900;
const CONTAINERS = 8_000;
const DOCUMENT_2 = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
/** Hard to compress. */
const large = randomBytes(LARGE_BYTES / 2).toString('hex');
const WITHIN_MS = 60_000;

describe('The event loop of a server with rare work', function () {
  this.timeout(120_000);
  let measured: MeasuredServer;
  let server: TestServer;
  /** Objects that are many. */
  let many: string;
  /** Of when all of them were there, and nothing else. */
  let revision: string;
  before(async () => {
    measured = await MeasuredServer.start('embedded');
    ({ server } = measured);
    const namespace = await newNamespace(server.client);
    many = configMapsIn(namespace);
    const data = { text: 'x'.repeat(1_500), ...numbered(10, 'k', 'v') };
    const labels = { app: 'many' };
    await Promise.all(Array.from({ length: OBJECTS }, (_, i) => createConfigMap(server.client, namespace, `a-${i}`, { data, labels }))); // prettier-ignore
    await createConfigMap(server.client, namespace, 'later');
    revision = ok(await server.client.get(`${many}/later`)).metadata.resourceVersion;
    await createConfigMap(server.client, namespace, 'latest');
  });
  after(() => measured.close());

  const numbered = <T>(count: number, name: string, value: T): Record<string, T> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, value]));
  const asked = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    server.client.request(method, path, { headers, signal: AbortSignal.timeout(WITHIN_MS) });
  /** @param how Whether what is done more than once is as much work each time. */
  const atOnce = async (
    count: number,
    ask: () => Promise<Reply>,
    how: 'again' | 'once' = 'again',
  ): Promise<readonly Reply[]> => {
    const all = (): Promise<Reply[]> => Promise.all(Array.from({ length: count }, ask));
    const replies = await (how === 'once' ? measured.once(all) : measured.during(all));
    for (const { code, text } of replies) assert.ok(code === 200 || code === 201, text);
    return replies;
  };
  const title = (what: string): string => `is not kept busy for more than ${TURN_MS} ms at a time by ${what}`;

  it(title('the first selector of labels'), async () => {
    const [{ body } = assert.fail()] = await atOnce(
      AT_ONCE,
      () => asked('GET', `${many}?labelSelector=app%3Dmany`),
      'once',
    );
    assert.equal(body.items.length, OBJECTS);
  });

  it(title('lists of an old revision'), async () => {
    const query = `?resourceVersion=${revision}&resourceVersionMatch=Exact`;
    const [{ body } = assert.fail()] = await atOnce(AT_ONCE, () => asked('GET', `${many}${query}`));
    assert.equal(body.items.length, OBJECTS + 1);
  });

  it(title('lists of an old revision with a selector'), async () => {
    const query = `?resourceVersion=${revision}&resourceVersionMatch=Exact&labelSelector=app%3Dmany`;
    const [{ body } = assert.fail()] = await atOnce(AT_ONCE, () => asked('GET', `${many}${query}`));
    assert.equal(body.items.length, OBJECTS);
  });

  it(title('the first document of OpenAPI in Protobuf'), async () => {
    const [{ text } = assert.fail()] = await atOnce(
      3,
      () => asked('GET', '/openapi/v2', { accept: DOCUMENT_2 }),
      'once',
    );
    assert.ok(text.length > 100_000);
  });

  for (const path of ['/openapi/v2', '/openapi/v3']) {
    it(title(`what ${path} answers first`), async () => {
      await atOnce(3, () => asked('GET', path), 'once');
    });
  }

  for (const [form, headers] of [
    ['JSON', { accept: 'application/json' }],
    ['JSON that is compressed', { accept: 'application/json', 'accept-encoding': 'gzip' }],
    ['Protobuf', { accept: 'application/vnd.kubernetes.protobuf' }],
  ] as const) {
    it(title(`${AT_ONCE} lists of large objects (${form})`), async () => {
      const path = configMapsIn(await newNamespace(server.client));
      for (let i = 0; i < LARGE_OBJECTS; i++) {
        const metadata = { name: `large-${i}` };
        created(await server.client.post(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: large } })); // prettier-ignore
      }
      await asked('GET', path, headers);
      const replies = await atOnce(AT_ONCE, () => asked('GET', path, headers));
      if ('accept-encoding' in headers) assert.equal(replies[0]?.headers['content-encoding'], 'gzip');
      else assert.ok(replies.every(({ text }) => text.length > LARGE_OBJECTS * LARGE_BYTES));
    });
  }

  it(title(`pods with ${CONTAINERS} containers`), async () => {
    const containers = Array.from({ length: CONTAINERS }, (_, i) => ({ name: `c-${i}`, image: 'i' }));
    const path = many.replace(/configmaps$/, 'pods');
    const post = (name: string): Promise<Reply> =>
      server.client.request('POST', path, {
        body: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers } },
        signal: AbortSignal.timeout(WITHIN_MS),
      });
    created(await post('first'));
    let pods = 0;
    await atOnce(3, () => post(`pod-${++pods}`));
  });

  const ACCESS = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'a' } };
  const REVIEWS: readonly { readonly kind: string; readonly group: string; readonly spec: object }[] = [
    {
      kind: 'SubjectAccessReview',
      group: 'authorization',
      spec: { ...ACCESS, user: 'jane', extra: numbered(EXTRAS, 'attribute-', ['v']) },
    },
    {
      kind: 'SubjectAccessReview',
      group: 'authorization',
      spec: { ...ACCESS, user: 'jane', groups: Array.from({ length: 9_900 }, (_, i) => `group-${i}`) },
    },
    {
      kind: 'TokenReview',
      group: 'authentication',
      spec: { token: 'nobody', audiences: Array.from({ length: 9_900 }, (_, i) => `audience-${i}`) },
    },
  ];
  for (const { kind, group, spec } of REVIEWS) {
    it(title(`a ${kind} with much in it (${Object.keys(spec).join(', ')})`), async () => {
      const path = `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`;
      const body = JSON.stringify({ apiVersion: `${group}.k8s.io/v1`, kind, spec });
      const post = (): Promise<Reply> => server.client.post(path, body);
      await post();
      await atOnce(3, post);
    });
  }

  it(title('the deletion of a collection'), async () => {
    const [{ body } = assert.fail()] = await atOnce(1, () => asked('DELETE', many), 'once');
    assert.ok(body.items.length >= OBJECTS);
  });
});
