import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { settlePodCidrs, settlePodIps } from './pairs.js';

const [ONE, OTHER, SIXTH] = ['10.1.0.0/24', '10.2.0.0/24', 'fd00::/64'];

describe('settlePodCidrs()', () => {
  const settled = (spec?: object): unknown => {
    const node = { kind: 'Node', apiVersion: 'v1', metadata: {}, ...(spec === undefined ? {} : { spec }) } as ApiObject;
    settlePodCidrs(node);
    return node['spec'];
  };
  const cases: readonly (readonly [string, object | undefined, object | undefined])[] = [
    ['fills the list from the one', { podCIDR: ONE }, { podCIDR: ONE, podCIDRs: [ONE] }],
    ['fills an empty list', { podCIDR: ONE, podCIDRs: [] }, { podCIDR: ONE, podCIDRs: [ONE] }],
    ['takes the first of the list', { podCIDRs: [ONE, SIXTH] }, { podCIDR: ONE, podCIDRs: [ONE, SIXTH] }],
    ['takes it for an empty one', { podCIDR: '', podCIDRs: [ONE] }, { podCIDR: ONE, podCIDRs: [ONE] }],
    ['lets the one count', { podCIDR: OTHER, podCIDRs: [ONE, SIXTH] }, { podCIDR: OTHER, podCIDRs: [OTHER] }],
    ['leaves what agrees', { podCIDR: ONE, podCIDRs: [ONE, SIXTH] }, { podCIDR: ONE, podCIDRs: [ONE, SIXTH] }],
    ['adds nothing to neither', { unschedulable: true }, { unschedulable: true }],
    ['needs no spec', undefined, undefined],
  ];
  for (const [what, given, wanted] of cases) it(what, () => assert.deepEqual(settled(given), wanted));
});

describe('settlePodIps()', () => {
  const settled = (status: object): unknown => {
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: {}, status } as ApiObject;
    settlePodIps(pod);
    return pod['status'];
  };

  it('does the same with addresses in objects', () => {
    const one = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] };
    assert.deepEqual(settled({ podIP: '10.0.0.1' }), one);
    assert.deepEqual(settled({ podIPs: [{ ip: '10.0.0.1' }] }), one);
    assert.deepEqual(settled({ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::1' }] }), one);
    const both = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] };
    assert.deepEqual(settled(structuredClone(both)), both);
  });
});
