import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';

const group = 'apiextensions.k8s.io';

describe('validation of changes of definitions', () => {
  const kind = new KindUnderTest({
    group,
    resource: 'customresourcedefinitions',
    type: `${group}/v1.CustomResourceDefinition`,
  });
  const S = 'spec.versions.0.schema.openAPIV3Schema';
  const A = 'spec.versions[0].schema.openAPIV3Schema.properties[a]';
  const defined = (a: object, more: object = {}): Readonly<Record<string, unknown>> =>
    changed(
      {
        apiVersion: `${group}/v1`,
        kind: 'CustomResourceDefinition',
        metadata: { name: 'tabs.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'tabs', singular: 'tab', kind: 'Tab', listKind: 'TabList' },
          versions: [{ name: 'v1', served: true, storage: true }],
        },
      },
      { [S]: { type: 'object', properties: { a } }, ...more },
    );
  const fieldsOf = async (next: object, old: object): Promise<readonly string[]> =>
    (await kind.updated({ ...next }, { ...old })).map(({ field }) => field);

  const UNTYPED = {};
  const OTHER = { 'spec.names.shortNames': ['t'] };
  const WRONG_DEFAULT = { type: 'integer', default: 'x' };
  const WRONG_RULE = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self.nope' }] };

  for (const [what, a] of Object.entries({ UNTYPED, WRONG_DEFAULT, WRONG_RULE })) {
    it(`leaves alone what was wrong before: ${what}`, async () => {
      assert.notDeepEqual(await kind.created(defined(a)), []);
      assert.deepEqual(await fieldsOf(defined(a, OTHER), defined(a)), []);
    });
  }

  it('tells what is wrong beside schemas that were wrong before', async () => {
    const keepsAll = { 'spec.preserveUnknownFields': true };
    assert.deepEqual(await fieldsOf(defined(UNTYPED, keepsAll), defined(UNTYPED)), ['spec.preserveUnknownFields']);
    assert.deepEqual(await fieldsOf(defined(UNTYPED, { ...keepsAll, ...OTHER }), defined(UNTYPED, keepsAll)), []);
  });

  it('asks nothing more of schemas that are not right yet', async () => {
    const both = { type: 'object', properties: { b: WRONG_DEFAULT, c: WRONG_RULE, d: UNTYPED } };
    assert.deepEqual(await fieldsOf(defined(both), defined({ type: 'string' })), [`${A}.properties[d].type`]);
    assert.deepEqual(await fieldsOf(defined(both, OTHER), defined(both)), []);
  });

  it('asks of schemas that have become right what was never asked of them', async () => {
    assert.deepEqual(await fieldsOf(defined(WRONG_DEFAULT), defined({ default: 'x' })), [`${A}.default`]);
    assert.deepEqual(await fieldsOf(defined(WRONG_RULE), defined({ ...WRONG_RULE, type: undefined })), [
      `${A}.x-kubernetes-validations[0].rule`,
    ]);
  });

  it('asks whether stored versions stay, also of a spec that stays', async () => {
    const stored = { 'status.storedVersions': ['v1', 'v0'] };
    const old = defined({ type: 'string' }, { 'status.storedVersions': ['v1'] });
    const next = defined({ type: 'string' }, stored);
    assert.deepEqual(await fieldsOf(next, old), ['status.storedVersions[1]']);
    assert.deepEqual(await fieldsOf(defined({ type: 'integer' }, stored), next), []);
  });

  it('asks of definitions in use whether their webhook can be trusted', async () => {
    const webhook = (caBundle: string): object => ({
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://a.example.com', caBundle }, conversionReviewVersions: ['v1'] },
    });
    const inUse = { 'status.conditions': [{ type: 'Established', status: 'True' }] };
    const none = Buffer.from('no certificate').toString('base64');
    const next = { 'spec.conversion': webhook(none) };
    const place = 'spec.conversion.webhookClientConfig.caBundle';
    const a = { type: 'string' };
    assert.deepEqual(await fieldsOf(defined(a, { ...next, ...inUse }), defined(a, inUse)), [place]);
    assert.deepEqual(await fieldsOf(defined(a, next), defined(a)), []);
  });

  it('lets others have their turn while it asks about schemas that are large', async () => {
    const rules = Array.from({ length: 40 }, (_, i) => ({ rule: `self.all(x, x > ${i}.0)`, message: 'm' }));
    const list = { type: 'array', maxItems: 1, items: { type: 'number' }, 'x-kubernetes-validations': rules };
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, list]));
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const problems = await kind.created(defined({ type: 'object', properties }));
    clearImmediate(timer);
    assert.deepEqual(problems, []);
    assert.ok(turns > 1, `${turns} turns`);
  });
});
