import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import { verb, type VerbStageDeps } from './dispatch.js';

describe('verb()', () => {
  const declaration = loadCatalog(vocabulary('platform')).resources.find(({ resource }) => resource === 'pods');

  for (const [what, subresource] of [
    ['a write', ''],
    ['an operation', 'binding'],
    ['a connection', 'exec'],
  ] as const) {
    it(`lets ${what} through to admission only when the caches are loaded`, async () => {
      const asked: string[] = [];
      const operation = { create: (): Promise<void> => Promise.resolve(void asked.push('operation')) };
      const operations = new Map([['', new Map([[`pods/${subresource}`, operation]])]]);
      const create = (): Promise<void> => Promise.resolve(void asked.push('verb'));
      const resources = { served: () => ({ stored: { cache: { loaded: true } } }) };
      const feed = { loaded: false };
      const stage = verb({ feed, operations, resources, verbs: { create } } as unknown as VerbStageDeps);
      const name = subresource === '' ? '' : 'p';
      const subresourceDeclaration = { verbs: ['create'] };
      const at = { declaration, subresourceDeclaration, group: '', namespace: 'ns', name, subresource };
      const info = { kind: 'resource', verb: 'create', watchPath: false, ...at };
      const query = new URLSearchParams();
      const ctx = { method: 'POST', state: { info, query } } as unknown as Context;
      const run = (): unknown => stage(ctx, () => Promise.resolve());
      await assert.rejects(Promise.resolve().then(run), ({ code, details }: StatusError) => {
        assert.deepEqual([code, details], [503, { retryAfterSeconds: 1 }]);
        return true;
      });
      assert.deepEqual(asked, []);
      feed.loaded = true;
      await run();
      assert.deepEqual(asked, [subresource === '' ? 'verb' : 'operation']);
    });
  }
});
