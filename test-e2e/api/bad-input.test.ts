import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import https from 'node:https';
import { JSON_PATCH, MERGE, type Client, type RequestOptions } from './tools/client.js';
import { namesIn } from './tools/document.js';
import { Http2Client } from './tools/http2-client.js';
import {
  configMap,
  configMapsIn,
  createConfigMap,
  created,
  deployment,
  deploymentsIn,
  eventually,
  newNamespace,
  ok,
  refused,
} from './tools/objects.js';
import { RawConnection, requestHead } from './tools/raw-connection.js';
import { onServer, STORES, type TestServer } from './tools/server.js';

type Server = () => TestServer;

const MAX_BODY_BYTES = 200_000;
const HEADER_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 2_000;
const FLAGS = [
  `--max-request-body-bytes=${MAX_BODY_BYTES}`,
  `--header-timeout=${HEADER_TIMEOUT_MS}ms`,
  `--request-timeout=${REQUEST_TIMEOUT_MS}ms`,
];
const PATH = configMapsIn('default');

/** Sockets that kept connections of tests may hold. */
const KEPT_SOCKETS = 70;

/** After whatever was sent: the same process is there, ready, and nothing of it is left. */
async function isWell(server: TestServer, pid: number): Promise<void> {
  assert.equal(server.pid, pid);
  assert.ok(server.alive, server.log);
  assert.equal((await server.client.get('/readyz')).code, 200);
  await eventually(async () => {
    const running = await server.metric('apiserver_longrunning_requests');
    const underWay = await server.metric('apiserver_current_inflight_requests');
    return running === 0 && underWay <= 1 && server.openSockets < KEPT_SOCKETS ? true : undefined;
  });
  assert.doesNotMatch(server.log, /"level":[56]0/);
}

/** Method, path, what is sent, and what comes of it. */
type Refusal = readonly [string, string, RequestOptions, number, string];

const body = (text: unknown, type = 'application/json'): RequestOptions => ({ body: text, type });
const accept = (types: string): RequestOptions => ({ headers: { accept: types } });

const BODIES: readonly Refusal[] = [
  ['POST', PATH, body('{"a":'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":"x"}} trailing'), 400, 'BadRequest'],
  ['POST', PATH, body(''), 400, 'BadRequest'],
  ['POST', PATH, {}, 400, 'BadRequest'],
  ['POST', PATH, body('[]'), 400, 'BadRequest'],
  ['POST', PATH, body('"text"'), 400, 'BadRequest'],
  ['POST', PATH, body('null'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":null}'), 422, 'Invalid'],
  ['POST', PATH, body('{"metadata":[]}'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":5}}'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":"x","labels":{"a":1}}}'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":"x"},"data":[]}'), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":"x"},"data":{"a":{}}}'), 400, 'BadRequest'],
  ['POST', PATH, body({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } }), 400, 'BadRequest'],
  ['POST', PATH, body({ kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'x' } }), 400, 'BadRequest'],
  ['POST', PATH, body(configMap('x', { metadata: { namespace: 'other' } })), 400, 'BadRequest'],
  ['POST', PATH, body(configMap('x', { metadata: { resourceVersion: '5' } })), 400, 'BadRequest'],
  ['PUT', `${PATH}/x`, body(configMap('y')), 400, 'BadRequest'],
  ['PUT', `${PATH}/x`, body(configMap('x', { metadata: { namespace: 'other' } })), 400, 'BadRequest'],
  ['POST', deploymentsIn('default'), body(deployment('x', { replicas: 1.5 })), 400, 'BadRequest'],
  ['POST', deploymentsIn('default'), body(deployment('x', { replicas: 2 ** 31 })), 400, 'BadRequest'],
  ['POST', deploymentsIn('default'), body(deployment('x', { replicas: '1' })), 400, 'BadRequest'],
  ['POST', deploymentsIn('default'), body({ metadata: { name: 'x' }, spec: 'text' }), 400, 'BadRequest'],
  ['POST', PATH, body(`{"metadata":{"name":"x"},"z":${'['.repeat(90_000)}${']'.repeat(90_000)}}`), 400, 'BadRequest'],
  ['POST', PATH, body(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`), 400, 'BadRequest'],
  ['POST', PATH, body('['.repeat(150_000)), 400, 'BadRequest'],
  ['POST', PATH, body(configMap('x', { labels: { ['k'.repeat(60_000)]: 'v' } })), 422, 'Invalid'],
  ['POST', PATH, body(configMap('x', { labels: { ['k'.repeat(100_000)]: 'v' } })), 400, 'BadRequest'],
  ['POST', PATH, body(configMap('n'.repeat(100_000))), 422, 'Invalid'],
  ['POST', PATH, body('{"metadata":{"name":"x","labels":{"__proto__":"v"}}}'), 422, 'Invalid'],
  ['POST', PATH, body(Buffer.from('{"metadata":{"name":"x"},"data":{"a":"\xff"}}', 'latin1')), 400, 'BadRequest'],
  ['POST', PATH, body(Buffer.from('{"metadata":{"name":"x"},"data":{"a":"\xc0\xaf"}}', 'latin1')), 400, 'BadRequest'],
  ['POST', PATH, body(Buffer.from('{"metadata":{"name":"x"}}', 'utf16le')), 400, 'BadRequest'],
  ['POST', PATH, body(Buffer.alloc(1000)), 400, 'BadRequest'],
  ['POST', PATH, body(randomBytes(1000)), 400, 'BadRequest'],
  ['POST', PATH, body('{"metadata":{"name":"x"}}', 'text/plain'), 415, 'UnsupportedMediaType'],
  ['POST', PATH, body('<x/>', 'application/xml'), 415, 'UnsupportedMediaType'],
  ['PUT', `${PATH}/x`, body('{}', 'text/plain'), 415, 'UnsupportedMediaType'],
  ['PATCH', `${PATH}/x`, body('{}', 'text/plain'), 415, 'UnsupportedMediaType'],
  ['DELETE', `${PATH}/x`, body('{}', 'text/plain'), 415, 'UnsupportedMediaType'],
  ['DELETE', `${PATH}/x`, body('[]'), 400, 'BadRequest'],
  ['DELETE', `${PATH}/x`, body('{"gracePeriodSeconds":"soon"}'), 400, 'BadRequest'],
  ['PATCH', `${PATH}/x`, body('{', MERGE), 400, 'BadRequest'],
  ['POST', PATH, body('a: &a [x,x,x]\nb: &b [*a,*a,*a]\n- ]', 'application/yaml'), 400, 'BadRequest'],
  ['POST', PATH, body('{}', 'application/yaml; charset=utf-8'), 422, 'Invalid'],
];

const NEGOTIATION: readonly Refusal[] = [
  ['GET', PATH, accept('image/png'), 406, 'NotAcceptable'],
  ['GET', `${PATH}/x`, accept('text/html'), 406, 'NotAcceptable'],
  ['GET', `${PATH}?watch=1`, accept('image/png'), 406, 'NotAcceptable'],
  ['GET', PATH, accept('application/json;q=0'), 406, 'NotAcceptable'],
  ['POST', PATH, { ...body(configMap('unaccepted')), ...accept('image/png') }, 406, 'NotAcceptable'],
  ['DELETE', PATH, accept('image/png'), 406, 'NotAcceptable'],
  ['GET', PATH, accept(','.repeat(10_000)), 406, 'NotAcceptable'],
];

const PLACES: readonly Refusal[] = [
  ['GET', '/api/v1/nonsense', {}, 404, 'NotFound'],
  ['GET', '/api/v2/configmaps', {}, 404, 'NotFound'],
  ['GET', '/apis/no.such.group/v1/things', {}, 404, 'NotFound'],
  ['GET', '/apis/apps/v1beta1/deployments', {}, 404, 'NotFound'],
  ['GET', '/api/v1/configmaps/x', {}, 404, 'NotFound'],
  ['GET', '/api/v1/namespaces/default/nodes', {}, 404, 'NotFound'],
  ['GET', '/api/v1/namespaces/default/namespaces', {}, 404, 'NotFound'],
  ['GET', `${PATH}/x/nonsense`, {}, 404, 'NotFound'],
  ['GET', `${PATH}/x/status/more/and/more`, {}, 404, 'NotFound'],
  ['GET', '/api/v1//configmaps', {}, 404, 'NotFound'],
  ['GET', '/nonsense', {}, 404, 'NotFound'],
  ['GET', '/apis/apps/v1/nonsense?watch=1', {}, 404, 'NotFound'],
  ['POST', `${PATH}/x`, body(configMap('x')), 405, 'MethodNotAllowed'],
  ['POST', '/api/v1/configmaps', body(configMap('x')), 405, 'MethodNotAllowed'],
  ['PUT', PATH, body(configMap('x')), 405, 'MethodNotAllowed'],
  ['PATCH', PATH, body({}, MERGE), 405, 'MethodNotAllowed'],
  ['DELETE', '/api/v1/configmaps', {}, 405, 'MethodNotAllowed'],
  ['OPTIONS', PATH, {}, 405, 'MethodNotAllowed'],
  ['PROPFIND', PATH, {}, 501, 'NotImplemented'],
  ['DELETE', '/api/v1/namespaces', {}, 405, 'MethodNotAllowed'],
];

const QUERIES: readonly Refusal[] = [
  ['DELETE', `${PATH}/x?gracePeriodSeconds=soon`, {}, 400, 'BadRequest'],
  ['DELETE', `${PATH}/x?propagationPolicy=Sideways`, {}, 422, 'Invalid'],
  ['DELETE', `${PATH}/x?dryRun=Some`, {}, 400, 'BadRequest'],
  ['POST', `${PATH}?dryRun=true`, body(configMap('x')), 400, 'BadRequest'],
  ['POST', `${PATH}?fieldValidation=Perhaps`, body(configMap('x')), 400, 'BadRequest'],
  ['GET', `${PATH}?limit=5&limit=x&continue=%ff`, {}, 400, 'BadRequest'],
  ['GET', `${PATH}?labelSelector=${'a%3Db,'.repeat(3_000)}`, {}, 400, 'BadRequest'],
  ['GET', `${PATH}?labelSelector=a${encodeURIComponent('('.repeat(5_000))}`, {}, 400, 'BadRequest'],
];

const PATH_TRICKS: readonly (readonly [string, number])[] = [
  [`${PATH}/..%2f..%2fsecrets%2fdefault%2fhidden`, 404],
  [`${PATH}/%2e%2e`, 404],
  [`${PATH}/%2e`, 404],
  ['/api/v1/namespaces/..%2f..%2fsecrets/configmaps', 404],
  ['/api/v1/namespaces/default%2fx/configmaps', 404],
  ['/api/v1/namespaces/%2e%2e/configmaps', 404],
  [`${PATH}/%2e%2e/%2e%2e/secrets/hidden`, 404],
  [`${PATH}/../secrets/hidden`, 404],
  [`${PATH}/%00`, 400],
  ['/%00', 400],
  [`${PATH}/%zz`, 400],
  [`${PATH}/%`, 400],
  [`${PATH}/%ff%fe`, 400],
  ['/apis/..%2f..%2f/v1/pods', 404],
  [`${PATH}/__proto__`, 404],
  ['/api/v1/__proto__', 404],
  ['/apis/__proto__/constructor/toString', 404],
  ['/api/v1/namespaces/__proto__/constructor/toString', 404],
  ['/livez/__proto__', 404],
];

function refusals(server: Server): void {
  for (const [title, table] of Object.entries({ BODIES, NEGOTIATION, PLACES, QUERIES })) {
    describe(title.toLowerCase(), () => {
      for (const [i, [method, path, sent, code, reason]] of table.entries()) {
        const shown = sent.body === undefined ? '' : ` ${JSON.stringify(sent.body).slice(0, 50)}`;
        it(`${i}: ${method} ${path.slice(0, 80)}${shown} is ${code} ${reason}`, async () => {
          refused(await server().client.request(method, path, sent), code, reason);
        });
      }
    });
  }

  for (const [path, code] of PATH_TRICKS) {
    it(`GET ${path} is ${code} and leads nowhere`, async () => {
      const { client } = server();
      await client.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'hidden' } });
      refused(await client.get(path), code, code === 404 ? 'NotFound' : 'BadRequest');
    });
  }

  it('stores nothing of all that', async () => {
    const { client } = server();
    const strange = /^x$|unaccepted|smuggled|partial/;
    for (const path of [PATH, deploymentsIn('default')]) {
      assert.deepEqual(namesIn(ok(await client.get(path))).filter((name) => strange.test(name)), []); // prettier-ignore
    }
  });
}

/** Names that a careless server gives to its own objects instead of treating them as data. */
const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

function strangeData(server: Server): void {
  it('keeps members that are named like those of every object', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const watch = await client.watch(`${path}?watch=1`);
    const data = `{${INHERITED.map((name) => `"${name}":"${name}-value"`).join(',')}}`;
    const sent = `{"metadata":{"name":"a","annotations":{"constructor":"c"}},"data":${data}}`;
    const check = (text: string): void => {
      for (const name of INHERITED) assert.match(text, new RegExp(`"${name}":\\s?"${name}-value"`));
    };
    const made = await client.post(path, sent);
    assert.equal(made.code, 201, made.text);
    check(made.text);
    check((await client.get(`${path}/a`)).text);
    check((await client.get(path)).text);
    check(JSON.stringify((await watch.next()).object));
    watch.close();
    check((await client.patch(`${path}/a`, { metadata: { labels: { x: 'y' } } })).text);
    const patched = await client.patch(`${path}/a`, '{"data":{"__proto__":null,"constructor":"new"}}');
    assert.equal(patched.code, 200);
    assert.doesNotMatch(patched.text, /__proto__/);
    assert.match(patched.text, /"constructor":"new"/);
    const pointer = [{ op: 'add', path: '/data/__proto__', value: 'again' }];
    assert.match((await client.patch(`${path}/a`, pointer, JSON_PATCH)).text, /"__proto__":"again"/);
    const deep = [{ op: 'add', path: '/data/constructor/prototype', value: 'polluted' }];
    refused(await client.patch(`${path}/a`, deep, JSON_PATCH), 422, 'Invalid');
    const polluting = '{"__proto__":{"polluted":"yes"},"metadata":{"__proto__":{"polluted":"yes"}}}';
    assert.doesNotMatch((await client.patch(`${path}/a`, polluting)).text, /polluted/);
    assert.doesNotMatch((await client.get('/version')).text, /polluted/);
  });

  it('brings any text back as it came', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const text = 'zero \u0000 quote " back \\ slash / line \n tab \t high \u{1F600} rtl \u202e bom \ufeff end';
    const { data } = await createConfigMap(client, namespace, 'a', { data: { text } });
    assert.deepEqual(data, { text });
    assert.deepEqual(ok(await client.get(`${configMapsIn(namespace)}/a`)).data, { text });
    const [item] = ok(await client.get(configMapsIn(namespace))).items;
    assert.deepEqual(item?.data, { text });
  });

  it('takes many members and long keys in its stride', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const data = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`key-${i}`, 'v']));
    assert.deepEqual((await createConfigMap(client, namespace, 'a', { data })).data, data);
    const reply = await client.post(configMapsIn(namespace), configMap('b', { data: { ['k'.repeat(150_000)]: 'v' } }));
    refused(reply, 400, 'BadRequest', /a key has more than 65536 characters/);
  });

  it('does not let aliases of a YAML body multiply', async () => {
    const { client } = server();
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 30; i++)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(',')}]`);
    const reply = await client.request('POST', PATH, { body: `metadata: {name: x}\n${lines.join('\n')}\n`, type: 'application/yaml' }); // prettier-ignore
    assert.equal(reply.code, 400, reply.text.slice(0, 200)); // it would never end
  });
}

const TOO_LARGE = /^HTTP\/1\.1 413 /;

function largeBodies(server: Server): void {
  it('refuses a body that announces too much, before it comes', async () => {
    const { client } = server();
    const raw = await RawConnection.open(client);
    raw.send(requestHead(client, 'POST', PATH, ['Content-Type: application/json', 'Content-Length: 999999999']));
    await raw.until(TOO_LARGE);
    raw.send('x'.repeat(100_000));
    await raw.closed;
    assert.match(raw.received, /"reason":"RequestEntityTooLarge"/);
  });

  it('does so for one that waits to be asked to go on', async () => {
    const { client } = server();
    const raw = await RawConnection.open(client);
    const headers = ['Content-Type: application/json', 'Content-Length: 999999999', 'Expect: 100-continue'];
    raw.send(requestHead(client, 'POST', PATH, headers));
    await raw.until(/HTTP\/1\.1 413 /);
    raw.destroy();
  });

  it('refuses a chunked body once it is too much', async () => {
    const { client } = server();
    const raw = await RawConnection.open(client);
    raw.send(requestHead(client, 'POST', PATH, ['Content-Type: application/json', 'Transfer-Encoding: chunked']));
    const chunk = `${(50_000).toString(16)}\r\n${' '.repeat(50_000)}\r\n`;
    for (let i = 0; i < 5; i++) raw.send(chunk);
    await raw.until(TOO_LARGE);
    for (let i = 0; i < 100; i++) raw.send(chunk);
    await raw.closed;
  });

  for (const announced of [true, false]) {
    it(`refuses it over HTTP/2, ${announced ? 'announced' : 'not announced'}, and the connection goes on`, async () => {
      const http2Client = await Http2Client.connect(server().client);
      const length = announced ? { 'content-length': '5000000' } : {};
      const stream = http2Client.open('POST', PATH, { 'content-type': 'application/json', ...length });
      stream.on('error', () => undefined);
      const sending = setInterval(() => stream.write(' '.repeat(50_000)), 5);
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
      clearInterval(sending);
      assert.equal(headers[':status'], 413);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      assert.equal((await http2Client.request('GET', '/readyz')).code, 200);
      http2Client.close();
    });
  }

  it('takes one that just fits, over both protocols', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const http2Client = await Http2Client.connect(client);
    const size = (name: string): number => JSON.stringify(configMap(name, { data: { a: '' } })).length;
    const fitting = (name: string, more: number): object =>
      configMap(name, { data: { a: 'x'.repeat(MAX_BODY_BYTES - size(name) + more) } });
    const path = configMapsIn(namespace);
    created(await client.post(path, fitting('a', 0)));
    refused(await client.post(path, fitting('c', 1)), 413, 'RequestEntityTooLarge');
    created(await http2Client.request('POST', path, { body: fitting('b', 0) }));
    refused(await http2Client.request('POST', path, { body: fitting('d', 1) }), 413, 'RequestEntityTooLarge');
    http2Client.close();
  });

  it('refuses headers beyond all measure, and takes long ones', async () => {
    const { client } = server();
    const headers = { 'x-long': 'x'.repeat(60_000) };
    assert.equal((await client.get('/readyz', headers)).code, 200);
    for (const head of [
      requestHead(client, 'GET', PATH, [`X-Long: ${'x'.repeat(100_000)}`]),
      requestHead(client, 'GET', `${PATH}?x=${'y'.repeat(100_000)}`),
    ]) {
      const raw = await RawConnection.open(client);
      raw.send(head);
      // A client that is still sending when the connection ends may not get to see the answer.
      assert.match(await raw.closed, /^(HTTP\/1\.1 431 |$)/);
    }
  });
}

function slowness(server: Server): void {
  it('closes connections whose headers or handshake do not come', async () => {
    const { client } = server();
    const silent = await RawConnection.openTcp(client);
    const quiet = await RawConnection.open(client);
    const half = await RawConnection.open(client);
    half.send(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-`);
    const dripping = await RawConnection.open(client);
    dripping.send(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n`);
    const drip = setInterval(() => dripping.send('X-A: b\r\n'), 100);
    await Promise.all([silent, quiet, half, dripping].map((it) => it.closed));
    clearInterval(drip);
  });

  it('ends requests whose body does not come, over both protocols', async () => {
    const { client } = server();
    const headers = ['Content-Type: application/json', 'Content-Length: 1000'];
    const quiet = await RawConnection.open(client);
    quiet.send(requestHead(client, 'POST', PATH, headers));
    const dripping = await RawConnection.open(client);
    dripping.send(requestHead(client, 'POST', PATH, headers));
    const http2Client = await Http2Client.connect(client);
    const stream = http2Client.open('POST', PATH, { 'content-type': 'application/json' });
    stream.on('error', () => undefined);
    const drip = setInterval(() => {
      dripping.send(' ');
      stream.write(' ');
    }, 100);
    const answered = once(stream, 'response') as Promise<[IncomingHttpHeaders & { ':status': number }]>;
    await Promise.all([quiet.closed, dripping.closed, answered]);
    clearInterval(drip);
    for (const { received } of [quiet, dripping]) {
      assert.match(received, /^HTTP\/1\.1 504 /);
      assert.match(received, /"reason":"Timeout"/);
    }
    assert.equal((await answered)[0][':status'], 504);
    http2Client.close();
  });
}

function departures(server: Server): void {
  it('stores nothing of uploads that break off', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const text = JSON.stringify(configMap('partial', { data: { a: 'x'.repeat(50_000) } }));
    const head = ['Content-Type: application/json', `Content-Length: ${text.length}`];
    const http2Client = await Http2Client.connect(client);
    for (let i = 0; i < 25; i++) {
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'POST', path, head));
      raw.send(text.slice(0, i * 2_000));
      raw.destroy();
      const stream = http2Client.open('POST', path, { 'content-type': 'application/json' });
      stream.on('error', () => undefined);
      stream.write(text.slice(0, i * 2_000));
      stream.close(http2.constants.NGHTTP2_CANCEL);
    }
    assert.equal((await http2Client.request('GET', '/readyz')).code, 200);
    http2Client.close();
    assert.deepEqual(namesIn(ok(await client.get(path))), []);
  });

  it('lets go of clients that leave in the middle of a long list', async () => {
    const { client } = server();
    const namespace = await newNamespace(client);
    const path = configMapsIn(namespace);
    const data = { a: 'x'.repeat(150_000) };
    await Promise.all(Array.from({ length: 40 }, (_, i) => createConfigMap(client, namespace, `cm-${i}`, { data })));
    const before = server().memoryBytes;
    const http2Client = await Http2Client.connect(client);
    const leaveEarly = async (): Promise<void> => {
      const raw = await RawConnection.open(client);
      raw.send(requestHead(client, 'GET', path));
      await raw.until(/^HTTP\/1\.1 200 /);
      raw.destroy();
      const stream = http2Client.open('GET', path);
      stream.on('error', () => undefined);
      stream.end();
      await once(stream, 'response');
      stream.close(http2.constants.NGHTTP2_CANCEL);
    };
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 10 }, leaveEarly));
    const whole = await http2Client.request('GET', path);
    assert.equal(whole.body.items.length, 40);
    http2Client.close();
    const grownMiB = (server().memoryBytes - before) / 2 ** 20;
    assert.ok(grownMiB < 400, `grown by ${grownMiB} MiB`);
  });

  it('forgets watchers that leave without a word', async () => {
    const { client } = server();
    const raws = await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(client)));
    for (const raw of raws) raw.send(requestHead(client, 'GET', `${PATH}?watch=1&resourceVersion=0`));
    await Promise.all(raws.map((raw) => raw.until(/^HTTP\/1\.1 200 /)));
    assert.equal(await server().metric('apiserver_longrunning_requests'), 40);
    for (const raw of raws) raw.destroy();
  });
}

const SMUGGLED = 'smuggled';

function smuggling(server: Server): void {
  /** Headers that two readers could understand differently. */
  const ambiguous: readonly (readonly [string, readonly string[]])[] = [
    ['two lengths', ['Content-Length: 0', 'Content-Length: 300']],
    ['two lengths in one', ['Content-Length: 0, 300']],
    ['a length and chunks', ['Content-Length: 300', 'Transfer-Encoding: chunked']],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 300']],
    ['a strange coding', ['Transfer-Encoding: xchunked']],
    ['chunks that are not last', ['Transfer-Encoding: chunked, identity']],
    ['a space before the colon', ['Content-Length : 0']],
    ['a folded line', ['X-A: b', ' c: d', 'Content-Length: 0']],
    ['a sign', ['Content-Length: +0']],
    ['a negative length', ['Content-Length: -1']],
    ['a hexadecimal length', ['Content-Length: 0x10']],
    ['a zero byte', ['X-A: \0']],
  ];
  for (const [title, headers] of ambiguous) {
    it(`refuses ${title}, and does not read on`, async () => {
      const { client } = server();
      const text = JSON.stringify(configMap(SMUGGLED));
      const second = requestHead(client, 'POST', PATH, [
        'Content-Type: application/json',
        `Content-Length: ${text.length}`,
      ]);
      const raw = await RawConnection.open(client);
      raw.send(
        `${requestHead(client, 'POST', PATH, ['Content-Type: application/json', ...headers])}0\r\n\r\n${second}${text}`,
      );
      const answers = (await raw.closed).match(/HTTP\/1\.1 \d+/g);
      assert.deepEqual(answers, ['HTTP/1.1 400']);
      refused(await client.get(`${PATH}/${SMUGGLED}`), 404, 'NotFound');
    });
  }
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));
const HEADERS = 1;
const CONTINUATION = 9;
const PING = 6;

function floods(server: Server): void {
  it('survives requests that are taken back at once, by the thousand', async () => {
    const { client } = server();
    for (let round = 0; round < 3; round++) {
      const http2Client = await Http2Client.connect(client);
      const { session } = http2Client;
      for (let i = 0; i < 3_000 && !session.closed && !session.destroyed; i++) {
        const stream = http2Client.open('GET', PATH);
        stream.on('error', () => undefined);
        stream.close(http2.constants.NGHTTP2_CANCEL);
        if (i % 100 === 0) await new Promise(setImmediate);
      }
      ok(await client.get('/readyz'));
      http2Client.close();
    }
  });

  it('ends a session whose headers have no end', async () => {
    const raw = await RawConnection.open(server().client, 'h2');
    raw.send(Buffer.concat([PREFACE, SETTINGS, frame(HEADERS, 0, 1, Buffer.from([0x82]))]));
    const more = frame(CONTINUATION, 0, 1, Buffer.alloc(16_000, 0x40));
    for (let i = 0; i < 200 && raw.isOpen; i++) {
      raw.send(more);
      await new Promise(setImmediate);
    }
    await raw.closed;
  });

  it('survives a client that asks for answers and reads none', async () => {
    const raw = await RawConnection.open(server().client, 'h2');
    const ping = frame(PING, 0, 0, Buffer.alloc(8));
    raw.send(Buffer.concat([PREFACE, SETTINGS]));
    const pings = Buffer.concat(Array.from({ length: 1_000 }, () => ping));
    for (let i = 0; i < 20; i++) raw.send(pings);
    assert.equal((await server().client.get('/readyz')).code, 200);
    raw.destroy();
  });

  it('survives noise in place of TLS, and inside it', async () => {
    const { client } = server();
    const noises = [randomBytes(20_000), Buffer.alloc(20_000), Buffer.from(requestHead(client, 'GET', '/readyz'))];
    const hello = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0x00, 0x3f, 0xfc, 0x03, 0x03]);
    const closed: Promise<string>[] = [];
    for (const noise of [...noises, Buffer.concat([hello, randomBytes(1_000)])]) {
      const raw = await RawConnection.openTcp(client);
      raw.send(noise);
      closed.push(raw.closed);
    }
    for (const protocol of ['http/1.1', 'h2'] as const) {
      for (const noise of [randomBytes(20_000), Buffer.concat([PREFACE, randomBytes(20_000)])]) {
        const raw = await RawConnection.open(client, protocol);
        raw.send(noise);
        closed.push(raw.closed);
      }
    }
    await Promise.all(closed);
  });

  it('survives many connections that come and go', async () => {
    const { client } = server();
    for (let i = 0; i < 5; i++) {
      const raws = await Promise.all(Array.from({ length: 60 }, () => RawConnection.openTcp(client)));
      for (const raw of raws) raw.destroy();
    }
  });

  it('answers methods and upgrades that it does not know', async () => {
    const { client } = server();
    const connect = await RawConnection.open(client);
    connect.send(`CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n`);
    await connect.closed;
    const upgrade = await RawConnection.open(client);
    upgrade.send(requestHead(client, 'GET', '/readyz', ['Connection: Upgrade', 'Upgrade: websocket']));
    await upgrade.until(/^HTTP\/1\.1 (200|400|426)/);
    upgrade.destroy();
  });
}

async function unknownCredentials(client: Client): Promise<void> {
  const { url, token } = client;
  const req = https.request({ host: url.hostname, port: url.port, path: PATH, rejectUnauthorized: false, headers: { authorization: `Basic ${token}` } }); // prettier-ignore
  req.end();
  const [res] = (await once(req, 'response')) as [{ statusCode: number; resume: () => void }];
  res.resume();
  assert.equal(res.statusCode, 401);
}

for (const store of STORES) {
  onServer(`bad input (${store} store)`, { store, flags: FLAGS }, (server) => {
    let pid = 0;
    before(() => {
      pid = server().pid;
    });
    afterEach(() => isWell(server(), pid));

    describe('refusals', () => refusals(server));
    describe('strange data', () => strangeData(server));
    describe('departures', () => departures(server));
    if (store === 'etcd') return; // the rest does not get as far as a store
    describe('large bodies', () => largeBodies(server));
    describe('slowness', () => slowness(server));
    describe('smuggling', () => smuggling(server));
    describe('floods', () => floods(server));
    it('refuses credentials of a kind it does not know', () => unknownCredentials(server().client));
  });
}
