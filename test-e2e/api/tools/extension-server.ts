import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { TestAuthority } from '../../../services/client/testing/certificates.js';
import type { Client } from './client.js';
import { created } from './objects.js';
import { httpTarget, ownAddress, tellBack, type Answer, type Target } from './targets.js';

export const GROUP = 'far.example.com';
export const FLUNDERS = `/apis/${GROUP}/v1/namespaces/default/flunders`;

const REFUSED = { kind: 'Status', status: 'Failure', reason: 'Unauthorized', code: 401 };
const V2 = /as=APIGroupDiscoveryList/;
const VERBS = ['create', 'delete', 'get', 'list', 'watch'];

/**
 * An API server as others write them: it takes the word of whoever shows a certificate of the front proxy's authority, and
 * serves one kind, its schemas and its discovery.
 */
export class ExtensionServer {
  readonly authority = new TestAuthority('extension');
  /** Of the proxies. */
  readonly proxies = new TestAuthority('front-proxy');
  readonly caBundle = Buffer.from(this.authority.cert).toString('base64');
  /** Watches that are open. */
  readonly watches = new Set<ServerResponse>();
  /** What else it answers, by path. */
  readonly answers = new Map<string, Answer>();
  /** Knows discovery of old alone. */
  plain = false;
  /** Any certificate is good: for servers that make their own. */
  takesAny = false;
  /** A part of the schema, to be changed. */
  description = 'A kind of fish.';
  #target: Target | undefined;

  get target(): Target {
    if (this.#target === undefined) throw new Error('It is not started');
    return this.#target;
  }

  async start(): Promise<void> {
    const { cert, key } = this.authority.issue('extension', 'DNS:far.default.svc');
    const file = (name: string, text: string): string => {
      const path = join(this.authority.directory, name);
      writeFileSync(path, text);
      return path;
    };
    const files = {
      certFile: file('s.crt', cert),
      keyFile: file('s.key', key),
      caFile: file('p.crt', this.proxies.cert),
    };
    this.#target = await httpTarget({ files, answer: (req, res, target) => this.#answer(req, res, target) });
  }

  /** Flags by which a server shows it the certificate that it takes. Called again, it puts another one in its place. */
  flags(name = 'front-proxy-client'): string[] {
    const { cert, key } = this.proxies.issue(name);
    const [certFile, keyFile, ca] = ['client.crt', 'client.key', 'ca.crt'].map((it) => join(this.proxies.directory, it)) as [string, string, string]; // prettier-ignore
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    return [
      `--proxy-client-cert-file=${certFile}`,
      `--proxy-client-key-file=${keyFile}`,
      `--requestheader-client-ca-file=${ca}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ];
  }

  /** Makes the service that leads to it, and its endpoints. */
  async serve(client: Client, port = this.target.port): Promise<void> {
    created(await client.post('/api/v1/namespaces/default/services', { metadata: { name: 'far' }, spec: { ports: [{ port: 443, name: 'https' }] } })); // prettier-ignore
    created(await client.post('/api/v1/namespaces/default/endpoints', { metadata: { name: 'far' }, subsets: [{ addresses: [{ ip: ownAddress() }], ports: [{ port, name: 'https' }] }] })); // prettier-ignore
  }

  apiService(group = GROUP, version = 'v1', more: object = {}): object {
    return {
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        groupPriorityMinimum: 2_000,
        versionPriority: 10,
        service: { namespace: 'default', name: 'far' },
        caBundle: this.caBundle,
        ...more,
      },
    };
  }

  /** Tells all watches of an object. */
  tell(type: string, name: string): void {
    for (const res of this.watches) res.write(`${JSON.stringify({ type, object: flunder(name) })}\n`);
  }

  async close(): Promise<void> {
    await this.#target?.close();
    this.authority.remove();
    this.proxies.remove();
  }

  #answer(req: IncomingMessage, res: ServerResponse, target: Target): void {
    const url = new URL(req.url ?? '/', 'https://far');
    const accept = req.headers.accept ?? '';
    const own = this.answers.get(url.pathname);
    const document = this.#document(url.pathname, accept);
    if (own !== undefined) own(req, res, target);
    else if (!this.#believes(req)) json(res, REFUSED, 401);
    else if (document !== undefined) this.#tell(req, res, document);
    else if (url.searchParams.get('watch') === 'true') this.#watch(res);
    else if (url.pathname === FLUNDERS && req.method === 'GET') json(res, list(['a', 'b'], accept));
    else if (url.pathname === `${FLUNDERS}/a`) json(res, flunder('a'));
    else tellBack(req, res, target);
  }

  #believes({ socket }: IncomingMessage): boolean {
    return socket instanceof TLSSocket && (socket.authorized || (this.takesAny && this.#shows(socket)));
  }

  #shows(socket: TLSSocket): boolean {
    return Object.keys(socket.getPeerCertificate()).length > 0;
  }

  #tell(req: IncomingMessage, res: ServerResponse, { type, body }: { type: string; body: object }): void {
    const text = JSON.stringify(body);
    const etag = `"${Buffer.from(text).toString('base64').slice(-40)}${text.length}"`;
    res.setHeader('ETag', etag);
    if (req.headers['if-none-match'] === etag) res.writeHead(304).end();
    else res.writeHead(200, { 'content-type': type }).end(text);
  }

  #document(path: string, accept: string): { type: string; body: object } | undefined {
    const aggregated = path === '/apis' && !this.plain ? V2.exec(accept) : null;
    if (aggregated !== null) {
      const type = /application\/json;[^,]*as=APIGroupDiscoveryList[^,]*/.exec(accept)?.[0] ?? '';
      return { type, body: AGGREGATED };
    }
    const body = this.#plain(path);
    return body === undefined ? undefined : { type: 'application/json', body };
  }

  #plain(path: string): object | undefined {
    const of: Readonly<Record<string, () => object>> = {
      [`/apis/${GROUP}/v1`]: () => RESOURCES,
      '/openapi/v2': () => this.#openApi2(),
      '/openapi/v3': () => ({ paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL: `/openapi/v3/apis/${GROUP}/v1?hash=${this.description.length}` } } }), // prettier-ignore
      [`/openapi/v3/apis/${GROUP}/v1`]: () => ({ openapi: '3.0.0', info: { title: 'far', version: 'v1' }, ...this.#paths('#/components/schemas/'), components: { schemas: this.#schemas() } }), // prettier-ignore
    };
    return of[path]?.();
  }

  #openApi2(): object {
    return { swagger: '2.0', info: { title: 'far', version: 'v1' }, ...this.#paths('#/definitions/'), definitions: this.#schemas() }; // prettier-ignore
  }

  #paths(prefix: string): object {
    const kind = [{ group: GROUP, version: 'v1', kind: 'Flunder' }];
    const schema = { $ref: `${prefix}com.example.far.v1.Flunder` };
    const get = { operationId: 'readFlunder', responses: { 200: { description: 'OK', schema } }, 'x-kubernetes-group-version-kind': kind[0], 'x-kubernetes-action': 'get' }; // prettier-ignore
    return { paths: { [`/apis/${GROUP}/v1/namespaces/{namespace}/flunders/{name}`]: { get }, '/apis/apps/v1/deployments': { get }, '/healthz': { get } } }; // prettier-ignore
  }

  #schemas(): object {
    return {
      'com.example.far.v1.Flunder': {
        description: this.description,
        type: 'object',
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          spec: { $ref: '#/definitions/shared.Spec' },
        },
        'x-kubernetes-group-version-kind': [{ group: GROUP, version: 'v1', kind: 'Flunder' }],
      },
      'shared.Spec': { type: 'object', description: 'How it swims.', properties: { speed: { type: 'integer' } } },
    };
  }

  #watch(res: ServerResponse): void {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.flushHeaders();
    this.watches.add(res);
    res.once('close', () => this.watches.delete(res));
  }
}

const flunder = (name: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Flunder',
  metadata: { name, namespace: 'default', resourceVersion: '1', uid: name, creationTimestamp: '2024-01-01T00:00:00Z' },
});

const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${GROUP}/v1`,
  resources: [
    { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: VERBS, shortNames: ['fl'] },
    { name: 'flunders/console', singularName: '', namespaced: true, kind: 'Flunder', verbs: ['get'] },
  ],
};

const AGGREGATED = {
  kind: 'APIGroupDiscoveryList',
  metadata: {},
  items: [
    {
      metadata: { name: GROUP },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'flunders',
              responseKind: { group: GROUP, version: 'v1', kind: 'Flunder' },
              scope: 'Namespaced',
              singularResource: 'flunder',
              verbs: VERBS,
              shortNames: ['fl'],
              subresources: [{ subresource: 'console', responseKind: { kind: 'Flunder' }, verbs: ['get'] }],
            },
          ],
        },
      ],
    },
    { metadata: { name: 'apps' }, versions: [{ version: 'v1', resources: [] }] },
  ],
};

function list(names: readonly string[], accept: string): object {
  if (!accept.includes('as=Table')) {
    return {
      kind: 'FlunderList',
      apiVersion: `${GROUP}/v1`,
      metadata: { resourceVersion: '1' },
      items: names.map(flunder),
    };
  }
  const columnDefinitions = [{ name: 'Name', type: 'string', format: 'name', description: '', priority: 0 }];
  const rows = names.map((name) => ({ cells: [name], object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name } } })); // prettier-ignore
  return { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, columnDefinitions, rows };
}

const json = (res: ServerResponse, body: object, code = 200): void =>
  void res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
