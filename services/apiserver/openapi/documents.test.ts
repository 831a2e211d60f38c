import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { methodsOf, parseRequest } from '../pipeline/request-info.js';
import type { RequestInfo } from '../request/request.js';
import { servedApi } from '../registry/runtime-config.js';
import type { ServedApi } from '../registry/served.js';
import { done } from '../../machinery/work/work.js';
import { DocumentWriter } from './documents.js';
import { partsOf, type Part } from './parts.js';

type Json = Readonly<Record<string, unknown>>;
interface Operation extends Json {
  readonly operationId: string;
  readonly description?: string;
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, Json>>;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly type?: string;
  readonly description?: string;
}
interface Model extends Json {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Json>>;
}
type PathItem = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };
interface DocumentV2 {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, Model>>;
}
interface DocumentV3 {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Model>> };
}

interface Made {
  readonly api: ServedApi;
  readonly parts: readonly Part[];
  readonly writer: DocumentWriter;
  readonly v2: DocumentV2;
  v3(path: string): DocumentV3;
}

function made(name: VocabularyName): Made {
  const words = vocabulary(name);
  const catalog = loadCatalog(words);
  const { api } = servedApi(catalog, new Map());
  const returnsDeleted = ({ resource }: { readonly resource: string }): boolean => resource === 'pods';
  const writer = new DocumentWriter({ catalog, vocabulary: words, version: '1.24.0', returnsDeleted });
  const parts = partsOf(api.groups);
  const v3 = (path: string): DocumentV3 => done(writer.v3(parts.find((p) => p.path === path)!)) as DocumentV3;
  return { api, parts, writer, v2: done(writer.v2(parts)) as DocumentV2, v3 };
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
/** `GET /api/v1/pods` and so on, of a document. */
const operationsOf = (paths: DocumentV2['paths']): [method: string, path: string, operation: Operation][] =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): [string, string, Operation][] =>
      item[method] === undefined ? [] : [[method.toUpperCase(), path, item[method]]],
    ),
  );
/** The path of a request for it. */
const filled = (path: string): string => path.replace(/\{(\w+)\}/g, 'a-$1');

/** What the server would say about a request, as far as the declaration tells. */
function isServed(method: string, info: RequestInfo): boolean {
  if (info.kind === 'path') return true;
  return info.declaration !== undefined && methodsOf(info, info.declaration).has(method);
}

/** `apps/v1 deployments/scale get`, of all that is declared. */
function declaredVerbs({ groups }: ServedApi): string[] {
  return groups.flatMap(({ name, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.flatMap((d) => [
        ...d.verbs.map((verb) => `${name}/${version} ${d.resource} ${verb}`),
        ...d.subresources.flatMap((sub) =>
          sub.verbs.map((verb) => `${name}/${version} ${d.resource}/${sub.name} ${verb}`),
        ),
      ]),
    ),
  );
}

describe('DocumentWriter', () => {
  const words = vocabulary('kubernetes');
  const core = `${words.openApiModelPrefix}api.core.v1`;
  const apps = `${words.openApiModelPrefix}api.apps.v1`;
  const meta = `${words.openApiModelPrefix}apimachinery.pkg.apis.meta.v1`;
  const x = words.openApiExtension;
  let kubernetes: Made;
  before(() => (kubernetes = made('kubernetes')));

  for (const name of ['platform', 'kubernetes'] as VocabularyName[]) {
    describe(`in the ${name} vocabulary`, () => {
      let that: Made;
      before(() => (that = made(name)));

      it('tells no operation that is not served', () => {
        const wrong = operationsOf(that.v2.paths).filter(
          ([method, path]) => !isServed(method, parseRequest(that.api, method, filled(path), new URLSearchParams())),
        );
        assert.deepEqual(
          wrong.map(([method, path]) => `${method} ${path}`),
          [],
        );
      });

      it('tells every operation that is served', () => {
        const told = new Set(
          operationsOf(that.v2.paths).map(([method, path]) => {
            const info = parseRequest(that.api, method, filled(path), new URLSearchParams());
            if (info.kind === 'path') return path;
            const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
            return `${info.group}/${info.version} ${resource} ${info.verb}`;
          }),
        );
        const missing = declaredVerbs(that.api).filter((verb) => !told.has(verb));
        assert.deepEqual(missing, []);
        for (const path of ['/api/', '/api/v1/', '/apis/', '/apis/apps/', '/apis/apps/v1/', '/version/'])
          assert.ok(told.has(path), path);
      });

      it('names each operation and its parameters once, and describes them all', () => {
        const ids = operationsOf(that.v2.paths).map(([, , o]) => o.operationId);
        assert.equal(new Set(ids).size, ids.length);
        for (const [method, path, operation] of operationsOf(that.v2.paths)) {
          const parameters = [...(that.v2.paths[path]?.parameters ?? []), ...operation.parameters];
          const keys = parameters.map((p) => `${p.in} ${p.name}`);
          assert.equal(new Set(keys).size, keys.length, `${method} ${path}`);
          const inPath = parameters.filter((p) => p.in === 'path').map((p) => p.name);
          assert.deepEqual(inPath.sort(), [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort(), path);
          const silent = [operation, ...parameters.filter((p) => p.in !== 'body')].filter((p) => !p.description);
          assert.deepEqual(silent, [], `${method} ${path}`);
        }
      });

      it('tells in the documents of version 3 what it tells in that of version 2', () => {
        const v3 = that.parts.flatMap((part) => operationsOf((done(that.writer.v3(part)) as DocumentV3).paths));
        const key = ([method, path, o]: (typeof v3)[number]): string => `${method} ${path} ${o.operationId}`;
        assert.deepEqual(v3.map(key).sort(), operationsOf(that.v2.paths).map(key).sort());
      });

      it('is the same each time, so that replicas agree', () => {
        const other = made(name);
        assert.equal(JSON.stringify(other.v2), JSON.stringify(that.v2));
        for (const { path } of that.parts) assert.equal(JSON.stringify(other.v3(path)), JSON.stringify(that.v3(path)));
      });
    });
  }

  describe('operations', () => {
    const operation = (method: string, path: string): Operation => kubernetes.v2.paths[path]![method]!;
    const POD = '/api/v1/namespaces/{namespace}/pods/{name}';
    const query = (o: Operation): string[] => o.parameters.filter((p) => p.in === 'query').map((p) => p.name);
    const answers = (o: Operation): unknown[] => Object.entries(o.responses).map(([code, r]) => [code, r['schema']]);
    const model = (name: string): Json => ({ $ref: `#/definitions/${name}` });

    it('take every kind of patch, with strategic merge and apply among them', () => {
      assert.deepEqual(operation('patch', POD).consumes, [
        'application/json-patch+json',
        'application/merge-patch+json',
        'application/strategic-merge-patch+json',
        'application/apply-patch+yaml',
      ]);
      assert.deepEqual(query(operation('patch', POD)), ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
    });

    it('answer JSON, YAML and Protobuf, and streams of what can be watched', () => {
      const { produces } = operation('get', '/api/v1/pods');
      assert.deepEqual(produces, [
        'application/json',
        'application/yaml',
        'application/vnd.kubernetes.protobuf',
        'application/json;stream=watch',
        'application/vnd.kubernetes.protobuf;stream=watch',
      ]);
      assert.deepEqual(operation('get', '/api/v1/watch/pods').produces, produces);
      assert.deepEqual(operation('get', POD).produces, produces.slice(0, 3));
      assert.deepEqual(operation('get', `${POD}/log`).produces, ['text/plain', ...produces.slice(0, 3)]);
    });

    it('have the parameters and answers of their verb', () => {
      assert.deepEqual(query(operation('get', '/api/v1/namespaces/{namespace}/pods')), [
        ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'resourceVersion'],
        ...['resourceVersionMatch', 'sendInitialEvents', 'timeoutSeconds', 'watch'],
      ]);
      const collection = operation('delete', '/api/v1/namespaces/{namespace}/pods');
      assert.equal(collection[x('action')], 'deletecollection');
      for (const name of ['gracePeriodSeconds', 'propagationPolicy', 'labelSelector', 'limit', 'orphanDependents'])
        assert.ok(query(collection).includes(name), name);
      assert.deepEqual(answers(operation('delete', POD)), [
        ['200', model(`${core}.Pod`)],
        ['202', model(`${core}.Pod`)],
        ['401', undefined],
      ]);
      const configMap = operation('delete', '/api/v1/namespaces/{namespace}/configmaps/{name}');
      assert.deepEqual(answers(configMap)[0], ['200', model(`${meta}.Status`)]);
    });

    it('connect with the options of their sub-resource, by every method that a proxy passes on', () => {
      const exec = operation('get', `${POD}/exec`);
      assert.equal(exec.operationId, 'connectCoreV1GetNamespacedPodExec');
      assert.deepEqual(query(exec), ['stdin', 'stdout', 'stderr', 'tty', 'container', 'command']);
      assert.equal(exec.parameters.find((p) => p.name === 'tty')?.type, 'boolean');
      assert.deepEqual(exec[x('group-version-kind')], { group: '', kind: 'PodExecOptions', version: 'v1' });
      const proxy = kubernetes.v2.paths[`${POD}/proxy/{path}`]!;
      assert.deepEqual(METHODS.filter((m) => m in proxy).sort(), [...METHODS].sort());
      assert.equal(proxy['head']!.operationId, 'connectCoreV1HeadNamespacedPodProxyWithPath');
      assert.deepEqual(query(operation('get', `${POD}/log`)), [
        ...['container', 'follow', 'previous', 'sinceSeconds', 'sinceTime', 'timestamps', 'tailLines', 'limitBytes'],
        'insecureSkipTLSVerifyBackend',
      ]);
    });

    it('name the kinds that sub-resources take', () => {
      const gvk = (path: string, method = 'post'): unknown => operation(method, path)[x('group-version-kind')];
      assert.deepEqual(gvk(`${POD}/eviction`), { group: 'policy', kind: 'Eviction', version: 'v1' });
      assert.deepEqual(gvk(`${POD}/binding`), { group: '', kind: 'Binding', version: 'v1' });
      const account = '/api/v1/namespaces/{namespace}/serviceaccounts/{name}';
      assert.deepEqual(gvk(`${account}/token`), {
        group: words.groups.authentication,
        kind: 'TokenRequest',
        version: 'v1',
      });
      const request = `/apis/${words.groups.certificates}/v1/certificatesigningrequests/{name}`;
      assert.equal(operation('put', `${request}/approval`)[x('action')], 'put');
      assert.ok(operation('patch', `${POD}/ephemeralcontainers`));
    });
  });

  describe('models', () => {
    const definition = (name: string): Model => kubernetes.v2.definitions[name]!;
    const marks = (name: string, property: string): Json =>
      Object.fromEntries(
        Object.entries(definition(name).properties![property]!)
          .filter(([key]) => key.startsWith('x-'))
          .map(([key, value]) => [key.slice(x('').length), value]),
      );

    it('say how lists and maps are merged', () => {
      assert.deepEqual(marks(`${core}.Container`, 'ports'), {
        'list-type': 'map',
        'list-map-keys': ['containerPort', 'protocol'],
        'patch-strategy': 'merge',
        'patch-merge-key': 'containerPort',
      });
      assert.deepEqual(marks(`${core}.Container`, 'args'), { 'list-type': 'atomic' });
      assert.deepEqual(marks(`${core}.ServiceSpec`, 'ports'), {
        'list-type': 'map',
        'list-map-keys': ['port', 'protocol'],
        'patch-strategy': 'merge',
        'patch-merge-key': 'port',
      });
      assert.deepEqual(marks(`${core}.ServiceSpec`, 'selector'), { 'map-type': 'atomic' });
      assert.deepEqual(marks(`${meta}.ObjectMeta`, 'ownerReferences')['patch-merge-key'], 'uid');
      assert.deepEqual(marks(`${apps}.DeploymentSpec`, 'strategy'), { 'patch-strategy': 'retainKeys' });
      assert.deepEqual(marks(`${core}.PersistentVolumeClaimSpec`, 'accessModes'), { 'list-type': 'atomic' });
    });

    it('say which members go together', () => {
      assert.deepEqual(definition(`${core}.SeccompProfile`)[x('unions')], [
        { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
      ]);
    });

    it('say what is required', () => {
      assert.deepEqual(definition(`${core}.Container`).required, ['name']);
      assert.deepEqual(definition(`${apps}.DeploymentSpec`).required, ['selector', 'template']);
      assert.deepEqual(definition(`${meta}.OwnerReference`).required, ['apiVersion', 'kind', 'name', 'uid']);
    });

    it('have in version 3 the defaults that depend on nothing else', () => {
      const { schemas } = kubernetes.v3('apis/apps/v1').components;
      assert.equal(schemas[`${apps}.DeploymentSpec`]!.properties!['replicas']!['default'], 1);
      assert.equal(schemas[`${core}.Probe`]!.properties!['periodSeconds']!['default'], 10);
      assert.equal(schemas[`${core}.ContainerPort`]!.properties!['protocol']!['default'], 'TCP');
      assert.equal('default' in schemas[`${core}.Container`]!.properties!['imagePullPolicy']!, false);
      assert.equal('default' in definition(`${apps}.DeploymentSpec`).properties!['replicas']!, false);
    });

    it('make kinds that belong to every group kinds of each', () => {
      const kinds = definition(`${meta}.DeleteOptions`)[x('group-version-kind')] as readonly Json[];
      assert.ok(kinds.some((k) => k['group'] === '' && k['version'] === 'v1'));
      assert.ok(kinds.some((k) => k['group'] === words.groups.storage && k['version'] === 'v1'));
      assert.deepEqual(definition(`${meta}.Status`)[x('group-version-kind')], [
        { group: '', kind: 'Status', version: 'v1' },
      ]);
      assert.deepEqual(definition(`${words.openApiModelPrefix}apimachinery.pkg.version.Info`).required, [
        ...['buildDate', 'compiler', 'gitCommit', 'gitTreeState', 'gitVersion', 'goVersion', 'major', 'minor'],
        'platform',
      ]);
    });
  });
});
