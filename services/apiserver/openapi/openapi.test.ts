import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { vocabulary, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { startPathServer, type Answer, type PathServer } from '../discovery/testing/path-server.js';
import { decodeDocument } from './protobuf/testing/decode-document.js';

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}
type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly [member: string]: unknown;
}
type PathItem = Readonly<Record<string, Operation>>;
interface DocumentV3 {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, { properties?: Json } & Json>> };
}
interface DocumentV2 {
  readonly swagger: string;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, { properties?: Json } & Json>>;
}

const PROTOBUF_2 = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the call says which document it asked for
const read = <T>(answer: Answer): T => answer.json() as T;
/** Names of models that the document refers to. */
const refs = (text: string): string[] =>
  [...text.matchAll(/"#\/(?:components\/schemas|definitions)\/([^"]+)"/g)].map((m) => m[1]!);
/** The same without what is meant for people. */
const terse = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, of: unknown) => (key === 'description' ? undefined : of));
const operationIds = (paths: DocumentV3['paths']): string[] =>
  Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap((o) => (typeof o.operationId === 'string' ? [o.operationId] : [])),
  );

describe('OpenApi', () => {
  const words = vocabulary('kubernetes');
  const core = `${words.openApiModelPrefix}api.core.v1`;
  const apps = `${words.openApiModelPrefix}api.apps.v1`;
  const meta = `${words.openApiModelPrefix}apimachinery.pkg.apis.meta.v1`;
  const x = words.openApiExtension;
  const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
  let server: PathServer;
  before(async () => (server = await startPathServer({ words: 'kubernetes' })));
  after(() => server.close());

  const documentOf = async (path: string): Promise<DocumentV3> => read(await server.get(`/openapi/v3/${path}`));

  describe('version 3', () => {
    for (const name of ['platform', 'kubernetes'] as VocabularyName[]) {
      it(`has in the ${name} vocabulary every model that its documents refer to`, async () => {
        const other = await startPathServer({ words: name });
        try {
          const { paths } = read<Index>(await other.get('/openapi/v3'));
          assert.ok(paths['api/v1'] && paths['apis/apps/v1']);
          for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
            const answer = await other.get(serverRelativeURL);
            const document = read<DocumentV3>(answer);
            assert.deepEqual(
              refs(answer.text).filter((r) => !(r in document.components.schemas)),
              [],
              path,
            );
            const ids = operationIds(document.paths);
            assert.equal(new Set(ids).size, ids.length, `${path} names an operation twice`);
          }
        } finally {
          await other.close();
        }
      });
    }

    it('describes a kind by its parts', async () => {
      const { components } = await documentOf('apis/apps/v1');
      const deployment = components.schemas[`${apps}.Deployment`]!;
      assert.deepEqual(terse(deployment.properties), {
        kind: { type: 'string' },
        apiVersion: { type: 'string' },
        metadata: { allOf: [ref(`${meta}.ObjectMeta`)], default: {} },
        spec: { allOf: [ref(`${apps}.DeploymentSpec`)], default: {} },
        status: { allOf: [ref(`${apps}.DeploymentStatus`)], default: {} },
      });
      assert.deepEqual(deployment[x('group-version-kind')], [{ group: 'apps', kind: 'Deployment', version: 'v1' }]);
      const spec = components.schemas[`${apps}.DeploymentSpec`]!;
      assert.deepEqual(spec['required'], ['selector', 'template']);
      assert.deepEqual(terse(spec.properties!['selector']), { allOf: [ref(`${meta}.LabelSelector`)] });
      assert.equal(components.schemas[`${meta}.LabelSelector`]![x('map-type')], 'atomic');
    });

    it('says how lists are merged', async () => {
      const { components } = await documentOf('api/v1');
      const { properties } = components.schemas[`${core}.PodSpec`]!;
      assert.deepEqual(terse(properties!['volumes']), {
        type: 'array',
        items: { allOf: [ref(`${core}.Volume`)], default: {} },
        [x('list-type')]: 'map',
        [x('list-map-keys')]: ['name'],
        [x('patch-strategy')]: 'merge,retainKeys',
        [x('patch-merge-key')]: 'name',
      });
      assert.deepEqual(terse(properties!['nodeSelector']), {
        type: 'object',
        additionalProperties: { type: 'string', default: '' },
        [x('map-type')]: 'atomic',
      });
    });

    it('has the forms of scalars', async () => {
      const { components } = await documentOf('api/v1');
      const { schemas } = components;
      const property = (model: string, name: string): unknown => terse(schemas[model]!.properties![name]);
      assert.deepEqual(property(`${core}.ContainerPort`, 'containerPort'), {
        type: 'integer',
        format: 'int32',
        default: 0,
      });
      assert.deepEqual(property(`${core}.ContainerPort`, 'protocol'), {
        type: 'string',
        enum: ['TCP', 'UDP', 'SCTP'],
        default: 'TCP',
      });
      assert.deepEqual(property(`${core}.Secret`, 'data'), {
        type: 'object',
        additionalProperties: { type: 'string', format: 'byte' },
      });
      assert.deepEqual(property(`${meta}.ObjectMeta`, 'creationTimestamp'), { allOf: [ref(`${meta}.Time`)] });
      assert.deepEqual(terse(schemas[`${meta}.Time`]), { type: 'string', format: 'date-time' });
      const intOrString = `${words.openApiModelPrefix}apimachinery.pkg.util.intstr.IntOrString`;
      assert.deepEqual(terse(schemas[intOrString]), {
        format: 'int-or-string',
        oneOf: [{ type: 'integer' }, { type: 'string' }],
      });
      const quantity = `${words.openApiModelPrefix}apimachinery.pkg.api.resource.Quantity`;
      assert.deepEqual(terse(schemas[quantity]), { oneOf: [{ type: 'string' }, { type: 'number' }] });
      assert.deepEqual(property(`${core}.ResourceRequirements`, 'limits'), {
        type: 'object',
        additionalProperties: ref(quantity),
      });
    });

    it('takes members of inlined types as the own ones, and writes named lists out', async () => {
      const { components } = await documentOf('api/v1');
      const selector = components.schemas[`${core}.ConfigMapKeySelector`]!;
      assert.deepEqual(Object.keys(selector.properties!), ['name', 'key', 'optional']);
      const reviews = await documentOf(`apis/${words.groups.authorization}/v1`);
      const spec =
        reviews.components.schemas[`${words.openApiModelPrefix}api.authorization.v1.SubjectAccessReviewSpec`]!;
      assert.deepEqual(terse(spec.properties!['extra']), {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
      });
    });

    it('shows clients that PATCH knows dry runs and field validation', async () => {
      const { paths } = await documentOf('api/v1');
      const patch = paths['/api/v1/namespaces/{namespace}/configmaps/{name}']!['patch']!;
      assert.equal(patch.operationId, 'patchCoreV1NamespacedConfigMap');
      assert.equal(patch[x('action')], 'patch');
      assert.deepEqual(patch[x('group-version-kind')], { group: '', kind: 'ConfigMap', version: 'v1' });
      assert.deepEqual(
        patch.parameters.map((p) => [p.in, p.name]),
        [
          ['query', 'dryRun'],
          ['query', 'fieldManager'],
          ['query', 'fieldValidation'],
          ['query', 'force'],
        ],
      );
    });

    it('has the operations of a resource and its sub-resources, wherever they are', async () => {
      const { paths } = await documentOf('apis/apps/v1');
      const methods = (path: string): string[] =>
        Object.keys(paths[path] ?? {})
          .filter((m) => m !== 'parameters')
          .sort();
      const item = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}';
      assert.deepEqual(methods('/apis/apps/v1/deployments'), ['get']);
      assert.deepEqual(methods('/apis/apps/v1/namespaces/{namespace}/deployments'), ['delete', 'get', 'post']);
      assert.deepEqual(methods(item), ['delete', 'get', 'patch', 'put']);
      assert.deepEqual(methods(`${item}/status`), ['get', 'patch', 'put']);
      assert.deepEqual(methods('/apis/apps/v1/watch/namespaces/{namespace}/deployments/{name}'), ['get']);
      assert.deepEqual(paths[`${item}/scale`]!['get']![x('group-version-kind')], {
        group: 'autoscaling',
        kind: 'Scale',
        version: 'v1',
      });
      const pods = (await documentOf('api/v1')).paths;
      assert.equal(pods['/api/v1/namespaces/{namespace}/pods/{name}/exec']!['post']![x('action')], 'connect');
      assert.ok(pods['/api/v1/nodes/{name}']);
    });

    it('may be kept for ever under the hash of its content', async () => {
      const { paths } = read<Index>(await server.get('/openapi/v3'));
      const url = paths['apis/apps/v1']!.serverRelativeURL;
      assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/);
      const answer = await server.get(url);
      assert.equal(answer.headers['cache-control'], 'public, immutable');
      assert.ok(Date.parse(answer.headers.expires ?? '') > Date.now());
      const bare = await server.get('/openapi/v3/apis/apps/v1');
      assert.equal(bare.headers['cache-control'], 'no-cache, private');
      const again = await server.get(url, { 'if-none-match': bare.headers.etag ?? '' });
      assert.deepEqual([again.code, again.bytes.length], [304, 0]);
      const stale = await server.get('/openapi/v3/apis/apps/v1?hash=OLD');
      assert.deepEqual([stale.code, stale.headers.location], [301, url]);
    });

    it('has an index that answers 304 while nothing changes', async () => {
      const { etag = '' } = (await server.get('/openapi/v3')).headers;
      assert.equal((await server.get('/openapi/v3', { 'if-none-match': etag })).code, 304);
    });

    it('zips for those who ask', async () => {
      const zipped = await server.get('/openapi/v3/api/v1', { 'accept-encoding': 'gzip' });
      assert.equal(zipped.headers['content-encoding'], 'gzip');
      const plain = await server.get('/openapi/v3/api/v1');
      assert.deepEqual(gunzipSync(zipped.bytes), plain.bytes);
    });

    it('has only what is served', async () => {
      const other = await startPathServer({ runtimeConfig: { 'apps/v1': 'false', 'api/v1/secrets': 'false' } });
      try {
        assert.equal('apis/apps/v1' in read<Index>(await other.get('/openapi/v3')).paths, false);
        assert.equal((await other.get('/openapi/v3/apis/apps/v1')).code, 404);
        const { paths } = read<DocumentV3>(await other.get('/openapi/v3/api/v1'));
        assert.equal('/api/v1/secrets' in paths, false);
      } finally {
        await other.close();
      }
    });
  });

  describe('version 2', () => {
    it('has everything in one document, without what only version 3 knows', async () => {
      const answer = await server.get('/openapi/v2');
      const { swagger, paths, definitions } = read<DocumentV2>(answer);
      assert.equal(swagger, '2.0');
      assert.ok(Object.keys(definitions).length > 200);
      assert.deepEqual(
        refs(answer.text).filter((r) => !(r in definitions)),
        [],
      );
      assert.equal(/"(?:allOf|oneOf)":\[|"requestBody"/.test(answer.text), false);
      assert.deepEqual(terse(definitions[`${apps}.Deployment`]!.properties!['spec']), {
        $ref: `#/definitions/${apps}.DeploymentSpec`,
      });
      const create = paths['/apis/apps/v1/namespaces/{namespace}/deployments']!['post']!;
      assert.deepEqual(create.parameters[0], {
        name: 'body',
        in: 'body',
        required: true,
        schema: { $ref: `#/definitions/${apps}.Deployment` },
      });
      const ids = operationIds(paths);
      assert.equal(new Set(ids).size, ids.length);
    });

    for (const accept of [PROTOBUF_2, PROTOBUF_2.replace('@', '.')]) {
      it(`comes in Protobuf for ${accept}, under a type that clients can read`, async () => {
        const answer = await server.get('/openapi/v2', { accept });
        assert.deepEqual(
          [answer.code, answer.headers['content-type'], answer.headers['cache-control']],
          [200, PROTOBUF_2.replace('@', '.'), 'no-cache, private'],
        );
        const { swagger, definitions } = decodeDocument(answer.bytes) as DocumentV2;
        assert.equal(swagger, '2.0');
        const json = read<DocumentV2>(await server.get('/openapi/v2'));
        assert.deepEqual(definitions[`${apps}.Deployment`], json.definitions[`${apps}.Deployment`]);
      });
    }

    it('comes in the form that the client wants most', async () => {
      const typeFor = async (accept: string): Promise<string | undefined> =>
        (await server.get('/openapi/v2', { accept })).headers['content-type'];
      assert.equal(await typeFor(`${PROTOBUF_2};q=0.5, application/json`), 'application/json');
      assert.equal(await typeFor(`application/json;q=0.5, ${PROTOBUF_2}`), PROTOBUF_2.replace('@', '.'));
      assert.equal(await typeFor('*/*'), 'application/json');
      assert.equal((await server.get('/openapi/v2', { accept: 'application/yaml' })).code, 406);
    });

    it('has a tag for each form, and answers 304 while nothing changes', async () => {
      const { etag: ofJson = '' } = (await server.get('/openapi/v2')).headers;
      const { etag = '' } = (await server.get('/openapi/v2', { accept: PROTOBUF_2 })).headers;
      assert.notEqual(etag, ofJson);
      const again = await server.get('/openapi/v2', { accept: PROTOBUF_2, 'if-none-match': etag });
      assert.deepEqual([again.code, again.bytes.length], [304, 0]);
      const other = await server.get('/openapi/v2', { accept: PROTOBUF_2, 'if-none-match': ofJson });
      assert.equal(other.code, 200);
    });

    it('is sent as it is, and zipped, in Protobuf', async () => {
      const plain = await server.get('/openapi/v2?pretty=true', { accept: PROTOBUF_2 });
      const zipped = await server.get('/openapi/v2', { accept: PROTOBUF_2, 'accept-encoding': 'gzip' });
      assert.equal(zipped.headers['content-encoding'], 'gzip');
      assert.deepEqual(gunzipSync(zipped.bytes), plain.bytes);
    });
  });
});
