import assert from 'node:assert/strict';
import type { ApiObject } from '../../services/machinery/meta/object.js';
import type { CustomResourceDefinition } from '../../services/machinery/types/generated/apiextensions.v1.js';
import { client as connect, type Answer, type Client } from '../support/client.js';
import { startPlatform, type Running } from '../support/platform.js';
import { conditionOf } from './tools/definitions.js';
import { needsDefinitions, published, sources, type Published } from './tools/published.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ESTABLISHED_MS = 60_000;

interface Samples {
  readonly source: string;
  /** Folders and files. */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
  /** Among those that are accepted, what is no whole object, or one of before the present definitions. */
  readonly except?: RegExp;
}

const E2E = 'test/e2e/manifests';
const SAMPLES: readonly Samples[] = [
  { source: 'cert-manager', accepted: ['test/fixtures'], refused: [] },
  { source: 'gateway-api', accepted: ['examples'], refused: ['hack/invalid-examples'] },
  {
    source: 'argo-cd',
    accepted: ['applicationset/examples', 'docs/operator-manual/application.yaml', 'docs/operator-manual/project.yaml'],
    refused: [],
    except: /design-doc|union-in-matrix/,
  },
  {
    source: 'prometheus-operator',
    accepted: ['additional-scrape-configs', 'rbac', 'shards', 'storage', 'thanos', 'user-guides'].map(
      (folder) => `example/${folder}`,
    ),
    refused: [],
    except: /scrapeclass/,
  },
  {
    source: 'crossplane',
    accepted: [
      `${E2E}/apiextensions/composition/validation/composition-valid.yaml`,
      `${E2E}/apiextensions/composition/basic-namespaced`,
      `${E2E}/ops`,
      `${E2E}/protection/usage`,
    ],
    refused: [
      ...['duplicate-pipeline-steps', 'empty-pipeline', 'missing-pipeline', 'missing-secretref'].map(
        (why) => `${E2E}/apiextensions/composition/validation/composition-invalid-${why}.yaml`,
      ),
      ...['ref', 'selector'].map(
        (by) => `${E2E}/protection/usage/standalone-namespaced/${by}-without-by-cross-namespace-invalid`,
      ),
      `${E2E}/apiextensions/xrd/validation/xrd-invalid.yaml`,
      `${E2E}/apiextensions/mrd/validation/mrd-invalid.yaml`,
    ],
    except: /-invalid/,
  },
  { source: 'knative', accepted: ['test/test_images'], refused: [] },
];

/** Changes of one object by another, both as files, that rules about changes allow or not. */
const CHANGES: readonly (readonly [from: string, to: string, isAllowed: boolean])[] = [
  ['xrd/validation/xrd-valid', 'xrd/validation/xrd-valid-updated', true],
  ['xrd/validation/xrd-valid', 'xrd/validation/xrd-valid-updated-invalid', false],
  ['xrd/validation/xrd-valid', 'xrd/validation/xrd-immutable-updated', false],
  ['mrd/validation/mrd-valid', 'mrd/validation/mrd-valid-updated', true],
  ['mrd/validation/mrd-valid', 'mrd/validation/mrd-valid-updated-invalid', false],
  ['mrd/validation/mrd-valid', 'mrd/validation/mrd-immutable-updated', false],
];

/** What is written where: the plural and the scope of a kind, by `group/version kind`. */
type Places = ReadonlyMap<string, { readonly plural: string; readonly isNamespaced: boolean }>;

describe('published definitions of custom resources', function () {
  this.timeout(180_000);
  let server: Running | undefined;
  let client: Client;
  let places: Places;

  before(async function () {
    needsDefinitions(this);
    server = await startPlatform({ vocabulary: 'kubernetes' });
    client = connect(server);
  });
  after(async () => {
    if (server === undefined) return; // nothing was there to be tested
    client.close();
    await server.stop();
  });

  const pathOf = ({ apiVersion, kind }: ApiObject): string => {
    const place = places.get(`${apiVersion} ${kind}`);
    assert.ok(place !== undefined, `${apiVersion} ${kind}`);
    return `/apis/${apiVersion}${place.isNamespaced ? '/namespaces/default' : ''}/${place.plural}`;
  };
  const apply = (object: ApiObject): Promise<Answer> =>
    client.request('PATCH', `${pathOf(object)}/${object.metadata.name ?? ''}?fieldManager=tests&force=true`, {
      body: JSON.stringify(object),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });

  before(async () => {
    const definitions = sources().flatMap(({ name, definitions: folder }) => published(name, folder)) as unknown as {
      object: ApiObject & CustomResourceDefinition;
    }[];
    const found = definitions.filter(({ object }) => object.kind === 'CustomResourceDefinition');
    for (const { object } of found) {
      const reply = await client.post(DEFINITIONS, object);
      assert.equal(reply.status, 201, `${object.metadata.name ?? ''}: ${reply.text.slice(0, 2_000)}`);
    }
    places = new Map(found.flatMap(({ object }) => placesOf(object)));
    await established(client, found.length);
  });

  it('are accepted as they are, and established', async () => {
    const { items } = (await client.get(DEFINITIONS)).json() as unknown as { items: unknown[] };
    assert.equal(items.length, 59);
  });

  for (const { source, accepted, refused, except = /^$/ } of SAMPLES) {
    const samples = (paths: readonly string[]): Published[] =>
      paths
        .flatMap((path) => published(source, path))
        .filter(({ object: { apiVersion, kind } }) => places.has(`${apiVersion} ${kind}`));

    it(`take the objects that ${source} shows, and take nothing from a second time`, async () => {
      const good = samples(accepted).filter(({ file }) => !except.test(file));
      assert.ok(good.length > 0);
      for (const [i, { file, object }] of good.entries()) {
        const sample = here(object, `${source}-${i}`);
        const first = await apply(sample);
        assert.ok([200, 201].includes(first.status), `${file}: ${first.text.slice(0, 2_000)}`);
        const again = await apply(sample);
        assert.equal(again.status, 200, file);
        assert.equal(
          again.json().metadata.resourceVersion,
          first.json().metadata.resourceVersion,
          `${file}: ${object.kind}`,
        );
      }
    });

    if (refused.length === 0) continue;
    it(`refuse the objects that ${source} says are wrong`, async () => {
      const bad = samples(refused);
      assert.ok(bad.length > 0);
      for (const { file, object } of bad) {
        const reply = await client.post(pathOf(object), here(object, object.metadata.name ?? 'bad'));
        assert.equal(reply.status, 422, `${file}: ${reply.text.slice(0, 500)}`);
      }
    });
  }

  it('tell of finalizers of which it is not clear whose they are', async () => {
    const [application] = published('argo-cd', 'docs/operator-manual/application.yaml');
    assert.ok(application !== undefined);
    const reply = await apply(here(application.object, 'told'));
    assert.match(String(reply.headers['warning']), /prefer a domain-qualified finalizer name including a path/);
    assert.equal((await apply(here(application.object, 'told'))).headers['warning'], undefined);
  });

  for (const [from, to, isAllowed] of CHANGES) {
    it(`${isAllowed ? 'allow' : 'refuse'} the change from ${from} to ${to}`, async () => {
      const [before, next] = [from, to].map(
        (name) => published('crossplane', `${E2E}/apiextensions/${name}.yaml`)[0]?.object,
      );
      assert.ok(before !== undefined && next !== undefined);
      await client.delete(`${pathOf(before)}/${before.metadata.name ?? ''}`);
      assert.equal((await apply(before)).status, 201);
      const reply = await apply(next);
      assert.equal(reply.status, isAllowed ? 200 : 422, reply.text.slice(0, 500));
    });
  }
});

/** In the one namespace that there is, under a name that nothing else has. */
const here = (object: ApiObject, name: string): ApiObject => {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, name } };
};

function placesOf({ spec }: CustomResourceDefinition): [string, { plural: string; isNamespaced: boolean }][] {
  const { group = '', scope, names, versions } = spec ?? {};
  const place = { plural: names?.plural ?? '', isNamespaced: scope === 'Namespaced' };
  return (versions ?? []).map(({ name }) => [`${group}/${name ?? ''} ${names?.kind ?? ''}`, place]);
}

async function established(client: Client, count: number): Promise<void> {
  const until = Date.now() + ESTABLISHED_MS;
  for (;;) {
    const { items } = (await client.get(DEFINITIONS)).json() as unknown as { items: ApiObject[] };
    const ready = items.filter((it) => conditionOf(it as never, 'Established')?.['status'] === 'True');
    if (ready.length === count) return;
    assert.ok(Date.now() < until, `${ready.length} of ${count} are established`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
