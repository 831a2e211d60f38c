import assert from 'node:assert/strict';
import { RESOURCES } from '../../machinery/types/generated/resources.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary, type VocabularyName } from '../../machinery/vocabulary/vocabulary.js';
import { builtInTypes } from './built-in-types.js';
import { ApiError, type ResourceClient } from './client.js';
import type { AnyObject, Live } from './resource-type.js';
import { retryOnConflict } from './retry-on-conflict.js';

const never = new AbortController().signal;
const refused = (reason: string): ApiError => new ApiError(409, reason, { status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 409, reason } }); // prettier-ignore

describe('retryOnConflict()', () => {
  const name = { name: 'a' };
  let reads: number;
  let refusals: ApiError[];
  let written: AnyObject[];
  const client: Pick<ResourceClient<AnyObject>, 'get' | 'update'> = {
    get: () => Promise.resolve({ kind: 'Thing', apiVersion: 'v1', metadata: { ...name, uid: 'u', resourceVersion: String(++reads) } }), // prettier-ignore
    update: (object) => {
      const refusal = refusals.shift();
      if (refusal !== undefined) return Promise.reject(refusal);
      written.push(object);
      return Promise.resolve(object as Live<AnyObject>);
    },
  };
  const label = (object: Live<AnyObject>): AnyObject => ({ metadata: { ...object.metadata, labels: { a: 'b' } } });
  beforeEach(() => {
    reads = 0;
    refusals = [];
    written = [];
  });

  it('writes what was made of the newest state', async () => {
    refusals = [refused('Conflict'), refused('Conflict')];
    const { metadata } = await retryOnConflict(client, name, label, {}, never);
    assert.deepEqual([metadata.resourceVersion, written.length, reads], ['3', 1, 3]);
  });

  it('gives up after five conflicts, and at once for anything else', async () => {
    refusals = Array.from({ length: 9 }, () => refused('Conflict'));
    await assert.rejects(retryOnConflict(client, name, label, {}, never), { reason: 'Conflict' });
    assert.equal(reads, 5);
    refusals = [refused('AlreadyExists')];
    await assert.rejects(retryOnConflict(client, name, label, {}, never), { reason: 'AlreadyExists' });
    assert.equal(reads, 6);
  });

  it('writes nothing where nothing changes', async () => {
    await retryOnConflict(client, name, () => undefined, {}, never);
    await retryOnConflict(client, name, (object) => object, {}, never);
    assert.deepEqual([reads, written.length], [2, 0]);
  });
});

describe('builtInTypes()', () => {
  for (const name of ['platform', 'kubernetes'] satisfies VocabularyName[]) {
    it(`are resources that are served, in the words of ${name}`, () => {
      const words = vocabulary(name);
      const { resources } = loadCatalog(words);
      const types = builtInTypes(words);
      assert.equal(Object.keys(types).length, Object.keys(RESOURCES).length);
      for (const { group, version, resource, kind, namespaced } of Object.values(types)) {
        const served = resources.find((it) => it.group === group && it.version === version && it.resource === resource);
        assert.deepEqual([served?.kind, served?.namespaced], [kind, namespaced], resource);
      }
      const missing = resources.filter(({ group, resource }) => !Object.values(types).some((it) => it.group === group && it.resource === resource)); // prettier-ignore
      assert.deepEqual(missing.filter(({ servedByDefault }) => servedByDefault), []); // prettier-ignore
      assert.equal(builtInTypes(words), types);
    });
  }

  it('are those versions that clients should use', () => {
    const { horizontalPodAutoscalers, cronJobs, events, eventsEvents, podSecurityPolicies } = builtInTypes(vocabulary('kubernetes')); // prettier-ignore
    assert.deepEqual(
      [horizontalPodAutoscalers, cronJobs, events, eventsEvents, podSecurityPolicies].map(({ group, version }) => `${group}/${version}`), // prettier-ignore
      ['autoscaling/v2', 'batch/v1', '/v1', 'events.k8s.io/v1', 'policy/v1beta1'],
    );
  });
});
