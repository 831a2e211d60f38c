import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import { ApiError } from '../client/rest/client.js';
import type { ListOptions, ApiClient } from '../client/rest/client.js';
import type { ResourceType } from '../client/rest/resource-type.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { OwnerCensus, type Owned } from './owner-census.js';

const { configMaps, secrets, namespaces } = builtInTypes(vocabulary('platform'));
const never = new AbortController().signal;

describe('OwnerCensus', () => {
  let asked: string[];
  let failure: Error | undefined;
  let gate: Promise<void>;
  let census: OwnerCensus;
  beforeEach(() => {
    [asked, failure, gate] = [[], undefined, Promise.resolve()];
    const list = async ({ resource }: ResourceType, { namespace = 'all' }: ListOptions): Promise<object> => {
      asked.push(`${resource} ${namespace}`);
      await gate;
      const once = resource === 'secrets' ? failure : undefined;
      if (once !== undefined) {
        failure = undefined;
        throw once;
      }
      const ownerReferences = [{ uid: 'o' }, { uid: resource }];
      return { items: [{ metadata: { name: 'a', ownerReferences } }, { metadata: { name: 'free' } }] };
    };
    const metadata = (type: ResourceType): object => ({ list: (o: ListOptions) => list(type, o) });
    const client = { metadata } as unknown as ApiClient;
    census = new OwnerCensus({ client, types: { all: [configMaps, secrets, namespaces] } });
  });

  const names = (owned: Owned): object =>
    Object.fromEntries([...owned].map(([uid, nodes]) => [uid, nodes.map(({ type }) => type.resource)]));
  const refusal = (reason: string): ApiError => new ApiError(404, reason, { status: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason, message: '' } as never }); // prettier-ignore

  it('finds what has owners in a namespace, by each of them', async () => {
    const found = await census.of('ns', never);
    assert.deepEqual(names(found), { o: ['configmaps', 'secrets'], configmaps: ['configmaps'], secrets: ['secrets'] });
    assert.deepEqual(asked, ['configmaps ns', 'secrets ns']);
  });

  it('looks everywhere for the dependents of what is in no namespace', async () => {
    await census.of('', never);
    assert.deepEqual(asked, ['configmaps all', 'secrets all', 'namespaces all']);
  });

  it('lets all share the next one who ask while one is under way, and only of the same namespace', async () => {
    let open = (): void => undefined;
    gate = new Promise((resolve) => (open = resolve));
    const first = census.of('ns', never);
    const [second, third] = [census.of('ns', never), census.of('ns', never)];
    const other = census.of('other', never);
    assert.equal(second, third);
    assert.notEqual(first, second);
    assert.deepEqual(asked, ['configmaps ns', 'secrets ns', 'configmaps other', 'secrets other']);
    open();
    await Promise.all([first, second, other]);
    assert.equal(asked.length, 6);
    await census.of('ns', never);
    assert.equal(asked.length, 8, 'a later one is not given what is old');
  });

  it('passes over a type that is gone, and fails for anything else, once', async () => {
    failure = refusal('NotFound');
    assert.deepEqual(names(await census.of('ns', never)), { o: ['configmaps'], configmaps: ['configmaps'] });
    failure = refusal('Forbidden');
    const [first, second] = [census.of('ns', never), census.of('ns', never)];
    await assert.rejects(first);
    assert.equal((await second).size, 3);
  });
});
