import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { ask, PODS } from '../testing/pods.js';
import { alwaysAdmit, alwaysDeny } from './always.js';
import { denyServiceExternalIPs } from './external-ips.js';
import { taintNodesByCondition } from './taint-nodes.js';

const object = (spec?: object): ApiObject => ({
  kind: 'K',
  apiVersion: 'v1',
  metadata: { name: 'x' },
  ...(spec === undefined ? {} : { spec }),
});

describe('taintNodesByCondition()', () => {
  const NODES = { ...PODS, resource: 'nodes', kind: 'Node' };
  const notReady = { key: 'node.platform.io/not-ready', effect: 'NoSchedule' };
  const other = { key: 'a', effect: 'NoSchedule' };
  for (const [what, spec, said, taints] of [
    ['taints new nodes', undefined, {}, [notReady]],
    ['adds to what is there', { taints: [other] }, {}, [other, notReady]],
    ['adds nothing twice, whatever the value', { taints: [{ ...notReady, value: 'v' }] }, {}, [{ ...notReady, value: 'v' }]], // prettier-ignore
    ['minds the effect', { taints: [{ ...notReady, effect: 'NoExecute' }] }, {}, [{ ...notReady, effect: 'NoExecute' }, notReady]], // prettier-ignore
    ['leaves nodes that are there', {}, { operation: 'UPDATE', oldObject: object() }, undefined],
    ['leaves sub-resources', {}, { subresource: 'status' }, undefined],
  ] as const) {
    it(what, async () => {
      const got = await ask(taintNodesByCondition({ vocabulary: vocabulary('platform') }), object(spec), said, NODES);
      assert.deepEqual(got.spec['taints'], taints);
    });
  }

  it('speaks the words of the installation', async () => {
    const plugin = taintNodesByCondition({ vocabulary: vocabulary('kubernetes') });
    const { spec } = await ask(plugin, object({ podCIDR: 'c' }), {}, NODES);
    const taints = [{ ...notReady, key: 'node.kubernetes.io/not-ready' }];
    assert.deepEqual(spec, { podCIDR: 'c', taints });
  });
});

describe('denyServiceExternalIPs()', () => {
  const SERVICES = { ...PODS, resource: 'services', kind: 'Service' };
  const service = (...externalIPs: string[]): ApiObject => object({ externalIPs });
  const NO = 'services "x" is forbidden: Use of external IPs is denied by admission control';
  for (const [what, old, next, why] of [
    ['refuses them at creation', undefined, service('1.1.1.1'), NO],
    ['takes services without', undefined, object({}), ''],
    ['refuses a first one', object({}), service('1.1.1.1'), NO],
    ['refuses another one', service('1.1.1.1'), service('1.1.1.1', '2.2.2.2'), NO],
    ['refuses one for another', service('1.1.1.1'), service('2.2.2.2'), NO],
    ['takes what was there, in another order', service('1.1.1.1', '2.2.2.2'), service('2.2.2.2', '1.1.1.1'), ''],
    ['takes fewer', service('1.1.1.1', '2.2.2.2'), service('2.2.2.2'), ''],
    ['takes none', service('1.1.1.1'), object({}), ''],
  ] as const) {
    it(what, async () => {
      const said = old === undefined ? {} : ({ operation: 'UPDATE', oldObject: old } as const);
      assert.equal((await ask(denyServiceExternalIPs(), next, said, SERVICES)).why, why);
    });
  }

  it('leaves sub-resources', async () => {
    const said = { operation: 'UPDATE', oldObject: object({}), subresource: 'status' } as const;
    assert.equal((await ask(denyServiceExternalIPs(), service('1.1.1.1'), said, SERVICES)).why, '');
  });
});

describe('alwaysDeny() and alwaysAdmit()', () => {
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    it(`say no and yes to ${operation}`, async () => {
      const no = 'pods "x" is forbidden: admission control is denying all modifications';
      const { why, error } = await ask(alwaysDeny(), object(), { operation });
      assert.deepEqual([why, error?.code], [no, 403]);
      assert.equal((await ask(alwaysAdmit(), object(), { operation })).why, '');
    });
  }
});
