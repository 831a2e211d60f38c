import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import { ok, refused } from './tools/objects.js';
import { onServer } from './tools/server.js';

const words = vocabulary('platform');

onServer('the first objects', { store: 'embedded' }, (server) => {
  for (const [name, value, description] of [
    ['system-node-critical', 2_000_001_000, /must not be moved from their current node/],
    ['system-cluster-critical', 2_000_000_000, /can be moved to another node if necessary/],
  ] as const) {
    it(`have the priority class ${name}, and keep it as it is`, async () => {
      const path = `/apis/${words.groups.scheduling}/v1/priorityclasses/${name}`;
      const first = ok(await server().client.get(path));
      assert.deepEqual([first['value'], first['preemptionPolicy'], first['globalDefault']], [value, 'PreemptLowerPriority', undefined]); // prettier-ignore
      assert.match(first['description'] as string, description);
      assert.equal(first.metadata.generation, 1);
      const [owner] = first.metadata['managedFields'] as readonly { manager: string }[];
      assert.equal(owner?.manager, words.serverName);
      const why = /priorityclasses.* is forbidden: this is a system priority class and cannot be deleted$/;
      refused(await server().client.delete(path), 403, 'Forbidden', why);
      await server().restart();
      assert.deepEqual(ok(await server().client.get(path)), first);
    });
  }

  it('have the namespaces, named by their label', async () => {
    for (const name of ['default', ...Object.values(words.namespaces)]) {
      const { metadata, status } = ok(await server().client.get(`/api/v1/namespaces/${name}`));
      assert.deepEqual([metadata.labels, status], [{ [words.namespaceNameLabel]: name }, { phase: 'Active' }]);
    }
  });
});
