import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { parseAddressRanges, parsePortRange } from '../addresses/ranges.js';
import { ServiceAddresses } from '../addresses/service-addresses.js';
import { DEFAULT_STRATEGY } from '../strategy.js';
import { strategies, strategyTable } from './table.js';

for (const name of ['platform', 'kubernetes'] as const) {
  describe(`strategies() in the ${name} vocabulary`, () => {
    const words = vocabulary(name);
    const { types, resources } = loadCatalog(words);
    const addresses = new ServiceAddresses({
      ranges: parseAddressRanges('range', ['10.96.0.0/24']),
      nodePorts: parsePortRange('ports', '30000-30100'),
    });
    const strategyFor = strategies({ vocabulary: words, types, eventTtlSeconds: 60, addresses, allowPrivileged: true });
    const hub = (group: string, resource: string): (typeof resources)[number] => {
      const found = resources.find(
        (r) => r.group === group && r.resource === resource && r.storage.version === r.version,
      );
      assert.ok(found, `${group}/${resource} is stored`);
      return found;
    };

    it('names stored resources only', () => {
      for (const [group, builds] of Object.entries(strategyTable(words))) {
        for (const resource of Object.keys(builds)) hub(group, resource);
      }
    });

    it('leaves the rest to the default', () => {
      const { validation } = DEFAULT_STRATEGY; // each kind has its own
      assert.deepEqual({ ...strategyFor(hub(words.groups.coordination, 'leases')), validation }, DEFAULT_STRATEGY);
    });

    it('keeps events for a while', () => {
      assert.equal(strategyFor(hub('', 'events')).ttlSeconds, 60);
    });

    it('settles what nodes and pods say twice', () => {
      const settled = (resource: string, object: object): object => {
        strategyFor(hub('', resource)).normalise?.(object as ApiObject);
        return object;
      };
      const node = { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] };
      assert.deepEqual(settled('nodes', { spec: { podCIDR: '10.1.0.0/24' } }), { spec: node });
      const pod = { podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] };
      assert.deepEqual(settled('pods', { status: { podIPs: [{ ip: '10.1.0.1' }] } }), { status: pod });
    });

    it('gives every kind with a spec of its own a generation', () => {
      for (const resource of ['deployments', 'daemonsets', 'replicasets', 'statefulsets']) {
        assert.match(strategyFor(hub('apps', resource)).generation, /^spec/, resource);
      }
    });
  });
}
