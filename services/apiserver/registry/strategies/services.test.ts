import assert from 'node:assert/strict';
import { encodeObject, itemStart, storagePrefix } from '../../../machinery/codec/encode.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { THE_SERVER } from '../../request/users.js';
import { CachedObject } from '../../cache/cached-object.js';
import { HistoryBudget } from '../../cache/history.js';
import { ResourceCache } from '../../cache/resource-cache.js';
import { parseAddressRanges, parsePortRange } from '../addresses/ranges.js';
import { ServiceAddresses } from '../addresses/service-addresses.js';
import { serviceAllocations, specOf, type ServiceSpec } from '../addresses/service-spec.js';
import { AlreadyAllocated } from '../allocation/allocations.js';
import { services } from './services.js';

const PREFIX = '/registry/core/services/';
const prefix = storagePrefix('Service', 'v1');
const LAYOUT = { prefixLength: prefix.length, itemStart: itemStart(prefix.length), selectableFields: [] };
const MEMBERS = ['ports', 'selector', 'clusterIP', 'clusterIPs', 'type', 'ipFamilies', 'ipFamilyPolicy'];

const service = (spec: ServiceSpec, name = 'a'): ApiObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns' },
  spec: structuredClone(spec),
});

/** Services of a server with these ranges. */
class Scene {
  readonly addresses: ServiceAddresses;
  readonly cache: ResourceCache;
  /** What the cache will show when somebody waits for it to be fresh. */
  behind: ApiObject[] | undefined;

  constructor(ranges: string, ports = '30000-30099') {
    this.addresses = new ServiceAddresses({
      ranges: parseAddressRanges('r', ranges.split(',')),
      nodePorts: parsePortRange('p', ports),
    });
    const budget = new HistoryBudget({ maxBytes: 1e8, retainMs: 1e8 });
    const form = { prefix, adopt: (): undefined => undefined };
    this.cache = new ResourceCache({ prefix: PREFIX, namespaced: true }, LAYOUT, form, budget);
    this.has([]);
    const fresh = (): Promise<void> => {
      if (this.behind !== undefined) this.has(this.behind);
      return Promise.resolve();
    };
    this.addresses.attach({ cache: this.cache, fresh, specMembers: MEMBERS });
  }

  has(objects: readonly ApiObject[]): void {
    const cached = objects.map((object) => {
      const { name = '' } = object.metadata;
      return CachedObject.fromStored(`${PREFIX}ns/${name}`, 'ns', name, 1, encodeObject(object), LAYOUT);
    });
    this.cache.load(cached, 1);
  }

  async create(spec: ServiceSpec, avoid: readonly string[] = []): Promise<ApiObject> {
    const object = service(spec);
    this.strategy.prepareForCreate?.(object, THE_SERVER, 'v1');
    return (await this.addresses.allocate(object, undefined, new Set(avoid))).object;
  }

  async update(old: ApiObject, spec: ServiceSpec): Promise<ServiceSpec> {
    const next = service(spec);
    this.strategy.prepareForUpdate?.(next, old, 'v1');
    return specOf((await this.addresses.allocate(next, old, new Set())).object);
  }

  get strategy(): ReturnType<typeof services> {
    return services({
      vocabulary: vocabulary('platform'),
      eventTtlSeconds: 1,
      allowPrivileged: true,
      addresses: this.addresses,
    });
  }
}

const V4 = '10.96.0.0/24';
const BOTH = '10.96.0.0/24,fd00::/112';
const PORTS = [{ port: 80, protocol: 'TCP' }];
const inV4 = /^10\.96\.0\.\d+$/;
const inV6 = /^fd00::[\da-f]+$/;

const causes = async (write: Promise<unknown>): Promise<string[]> => {
  const err = await write.then(
    () => assert.fail('Nothing was refused'),
    (it: unknown) => it,
  );
  assert.ok(err instanceof StatusError, String(err));
  return err.details?.causes?.map(({ field = '', message = '' }) => `${field}: ${message}`) ?? [];
};

describe('services: a new one', () => {
  const single = new Scene(V4);
  const dual = new Scene(BOTH);

  it('gets an address of the first range, and says so', async () => {
    const { clusterIP = '', ...rest } = specOf(await single.create({ ports: PORTS }));
    assert.match(clusterIP, inV4);
    assert.deepEqual(rest, { ports: PORTS, clusterIPs: [clusterIP], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }); // prettier-ignore
  });

  it('has its members in the order they are declared in', async () => {
    const { spec } = await single.create({ type: 'NodePort', ports: PORTS, selector: { a: 'b' } });
    assert.deepEqual(Object.keys(spec as object), ['ports', 'selector', 'clusterIP', 'clusterIPs', 'type', 'ipFamilies', 'ipFamilyPolicy']); // prettier-ignore
  });

  it('gets no address when it is headless or a name of something else', async () => {
    const headless = specOf(await dual.create({ clusterIP: 'None', selector: { a: 'b' } }));
    assert.deepEqual([headless.clusterIPs, headless.ipFamilies], [['None'], ['IPv4']]);
    const unselective = specOf(await single.create({ clusterIP: 'None' }));
    assert.deepEqual([unselective.ipFamilies, unselective.ipFamilyPolicy], [['IPv4', 'IPv6'], 'RequireDualStack']);
    assert.deepEqual((await dual.create({ type: 'ExternalName' }))['spec'], { type: 'ExternalName' });
  });

  it('gets addresses of the families that it asks for', async () => {
    const families = async (spec: ServiceSpec): Promise<string> => {
      const { clusterIPs = [], ipFamilies = [] } = specOf(await dual.create({ ports: PORTS, ...spec }));
      for (const [i, ip] of clusterIPs.entries()) assert.match(ip, ipFamilies[i] === 'IPv4' ? inV4 : inV6);
      assert.equal(clusterIPs.length, ipFamilies.length);
      return ipFamilies.join();
    };
    assert.equal(await families({}), 'IPv4');
    assert.equal(await families({ ipFamilies: ['IPv6'] }), 'IPv6');
    assert.equal(await families({ ipFamilyPolicy: 'PreferDualStack' }), 'IPv4,IPv6');
    assert.equal(await families({ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }), 'IPv6,IPv4');
    assert.equal(await families({ clusterIP: 'fd00::7' }), 'IPv6');
    assert.equal(await families({ clusterIP: 'fd00::8', ipFamilyPolicy: 'PreferDualStack' }), 'IPv6,IPv4');
    assert.equal(specOf(await single.create({ ipFamilyPolicy: 'PreferDualStack' })).clusterIPs?.length, 1);
  });

  it('is refused families that there are no addresses of', async () => {
    assert.deepEqual(await causes(single.create({ ipFamilyPolicy: 'RequireDualStack' })), [
      `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services`,
    ]);
    assert.deepEqual(await causes(single.create({ ipFamilies: ['IPv6'] })), [
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ]);
    assert.deepEqual(await causes(single.create({ clusterIP: 'fd00::1' })), [
      'spec.clusterIPs[0]: Invalid value: []string{"fd00::1"}: IPv6 is not configured on this cluster',
    ]);
    const two = { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7', 'fd00::7'], ipFamilyPolicy: 'SingleStack' };
    assert.match((await causes(dual.create(two)))[0] ?? '', /^spec.ipFamilyPolicy: .* multiple cluster IPs/);
  });

  it('is refused an address or a port outside of the ranges', async () => {
    assert.deepEqual(await causes(single.create({ clusterIP: '10.1.0.1' })), [
      'spec.clusterIPs: Invalid value: []string{"10.1.0.1"}: failed to allocate IP 10.1.0.1: the provided IP (10.1.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/24',
    ]);
    assert.deepEqual(await causes(single.create({ type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })), [
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30099',
    ]);
  });

  it('gets a port on the machines for each of its ports, one for all protocols', async () => {
    const ports = [
      { port: 80, protocol: 'TCP' },
      { port: 80, protocol: 'UDP' },
      { port: 81, protocol: 'TCP' },
      { port: 82, protocol: 'UDP' },
      { port: 82, protocol: 'TCP', nodePort: 30007 },
    ];
    const { ports: got = [] } = specOf(await single.create({ type: 'NodePort', ports }));
    const [tcp, udp, other, before, asked] = got.map(({ nodePort }) => nodePort);
    assert.equal(tcp, udp);
    assert.equal(before, 30007);
    assert.equal(asked, 30007);
    assert.equal(new Set([tcp, other, asked]).size, 3);
    for (const nodePort of [tcp, other]) assert.ok(nodePort !== undefined && nodePort >= 30000 && nodePort < 30100);
  });

  it('gets another port where the same for all protocols is had by another of its ports', async () => {
    const ports = [
      { port: 80, protocol: 'TCP', nodePort: 30001 },
      { port: 81, protocol: 'UDP', nodePort: 30001 },
      { port: 80, protocol: 'UDP' },
    ];
    assert.notEqual(specOf(await single.create({ type: 'NodePort', ports })).ports?.[2]?.nodePort, 30001);
  });

  it('gets ports of a load balancer as it asks for them, and one for health checks', async () => {
    const balancer = (more: ServiceSpec): Promise<ApiObject> =>
      single.create({ type: 'LoadBalancer', ports: PORTS, ...more });
    assert.ok(specOf(await balancer({})).ports?.[0]?.nodePort);
    const without = specOf(await balancer({ allocateLoadBalancerNodePorts: false }));
    assert.deepEqual([without.ports, without.healthCheckNodePort], [PORTS, undefined]);
    const { ports = [], healthCheckNodePort } = specOf(await balancer({ externalTrafficPolicy: 'Local' }));
    assert.ok(healthCheckNodePort !== undefined && healthCheckNodePort !== ports[0]?.nodePort);
    const clash = {
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30001,
      ports: [{ port: 80, nodePort: 30001 }],
    };
    assert.deepEqual(await causes(balancer(clash)), [
      'spec.healthCheckNodePort: Invalid value: 30001: provided port is already allocated',
    ]);
  });

  it('is refused more ports on the machines than one write can take', async () => {
    const ports = Array.from({ length: 101 }, (_, i) => ({ port: 1 + i, name: `p${i}` }));
    assert.deepEqual(await causes(single.create({ type: 'NodePort', ports })), [
      'spec.ports: Too many: 101: must have at most 100 items',
    ]);
    assert.equal(specOf(await single.create({ ports })).ports?.length, 101);
  });

  it('allocates all that it has, in one way of writing', async () => {
    const spec = { clusterIP: 'FD00:0::7', ipFamilyPolicy: 'SingleStack', type: 'NodePort', ports: [{ port: 1, nodePort: 30001 }] }; // prettier-ignore
    assert.deepEqual(serviceAllocations(await dual.create(spec)), ['clusterip/fd00::7', 'nodeport/30001']);
    assert.deepEqual(serviceAllocations(await dual.create({ clusterIP: 'None' })), []);
  });
});

describe('services: what is free', () => {
  it('is all but the first address, and each once', async () => {
    const scene = new Scene('10.96.0.0/28');
    const got: ApiObject[] = [];
    for (let i = 0; i < 13; i++) {
      scene.has(got);
      const made = await scene.create({});
      made.metadata.name = `n${i}`;
      got.push(made);
    }
    const addresses = new Set(got.map((it) => specOf(it).clusterIP));
    assert.equal(addresses.size, 13);
    assert.ok(!addresses.has('10.96.0.1') && !addresses.has('10.96.0.0') && !addresses.has('10.96.0.15'));
    scene.has(got);
    await assert.rejects(scene.create({}), (err: StatusError) => {
      assert.equal(err.message, 'Internal error occurred: failed to allocate a serviceIP: range is full');
      return err.code === 500;
    });
  });

  it('is looked for once more when the cache may be behind', async () => {
    const scene = new Scene(V4, '30000-30000');
    const holder = service({ type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] }, 'holder');
    scene.has([holder]);
    await assert.rejects(scene.create({ type: 'NodePort', ports: [{ port: 80 }] }), /failed to allocate a nodePort/);
    scene.behind = [];
    assert.equal(specOf(await scene.create({ type: 'NodePort', ports: [{ port: 80 }] })).ports?.[0]?.nodePort, 30000);
  });

  it('is not what has turned out to be taken', async () => {
    const scene = new Scene(V4, '30000-30001');
    const made = await scene.create({ type: 'NodePort', ports: [{ port: 80 }] }, ['nodeport/30000']);
    assert.equal(specOf(made).ports?.[0]?.nodePort, 30001);
  });

  it('is refused by name when it was asked for and somebody has it', () => {
    const { addresses } = new Scene(V4);
    const asks = service({ clusterIPs: ['10.96.0.9'], ports: [{ port: 80 }, { port: 81, nodePort: 30001 }] });
    const refusal = (allocation: string): string =>
      addresses.refusal(asks, new AlreadyAllocated(allocation, 'x')).message;
    assert.equal(
      refusal('clusterip/10.96.0.9'),
      'Service "a" is invalid: spec.clusterIPs: Invalid value: []string{"10.96.0.9"}: failed to allocate IP 10.96.0.9: provided IP is already allocated',
    );
    assert.equal(
      refusal('nodeport/30001'),
      'Service "a" is invalid: spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated',
    );
  });
});

describe('services: a change', () => {
  const single = new Scene(V4);
  const dual = new Scene(BOTH);
  const named = [{ name: 'web', port: 80 }, { name: 'dns', port: 53 }]; // prettier-ignore

  it('keeps what it leaves out', async () => {
    const old = await single.create({ type: 'NodePort', ports: named });
    const before = specOf(old);
    const after = await single.update(old, { type: 'NodePort', ports: [{ name: 'dns', port: 54 }, { name: 'web', port: 80 }] }); // prettier-ignore
    assert.equal(after.clusterIP, before.clusterIP);
    assert.deepEqual(after.clusterIPs, before.clusterIPs);
    assert.deepEqual(after.ports?.map(({ nodePort }) => nodePort), before.ports?.map(({ nodePort }) => nodePort).reverse()); // prettier-ignore
  });

  it('gives a port that was moved to another to that one', async () => {
    const old = await single.create({ type: 'NodePort', ports: named });
    const [web = 0] = specOf(old).ports?.map(({ nodePort = 0 }) => nodePort) ?? [];
    const after = await single.update(old, { type: 'NodePort', ports: [{ name: 'web', port: 80 }, { name: 'x', port: 1, nodePort: web }] }); // prettier-ignore
    assert.equal(after.ports?.[1]?.nodePort, web);
    assert.notEqual(after.ports[0]?.nodePort, web);
  });

  it('takes and lets go of ports as the type changes', async () => {
    const old = await single.create({ type: 'ClusterIP', ports: named });
    const onNodes = await single.update(old, { ...specOf(old), type: 'NodePort' });
    assert.equal(new Set(onNodes.ports?.map(({ nodePort }) => nodePort)).size, 2);
    const back = await single.update(service(onNodes), { ...onNodes, type: 'ClusterIP' });
    assert.deepEqual(back, specOf(old));
  });

  it('lets go of everything when it becomes a name, and gets all anew', async () => {
    const old = await dual.create({
      type: 'NodePort',
      ports: PORTS,
      ipFamilyPolicy: 'PreferDualStack',
    });
    const name = await dual.update(old, { ...specOf(old), type: 'ExternalName' });
    assert.deepEqual(name, { type: 'ExternalName', ports: PORTS });
    assert.match((await dual.update(service(name), { ...name, type: 'ClusterIP' })).clusterIP ?? '', inV4);
  });

  it('keeps ports of a load balancer that wants none any more until they are left out', async () => {
    const old = await single.create({ type: 'LoadBalancer', ports: PORTS });
    const kept = await single.update(old, { ...specOf(old), allocateLoadBalancerNodePorts: false });
    assert.deepEqual(kept.ports, specOf(old).ports);
    const gone = await single.update(service(kept), { ...kept, ports: PORTS });
    assert.deepEqual(gone.ports, PORTS);
  });

  it('drops what only load balancers have when it is none any more', async () => {
    const balancer = { type: 'LoadBalancer', ports: PORTS, externalTrafficPolicy: 'Local', loadBalancerClass: 'x/y', allocateLoadBalancerNodePorts: true }; // prettier-ignore
    const old = await single.create(balancer);
    const after = await single.update(old, { ...specOf(old), type: 'ClusterIP' });
    const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = specOf(old);
    assert.deepEqual(after, { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy, ports: PORTS, type: 'ClusterIP' });
  });

  for (const [from, to] of [
    ['LoadBalancer', 'ClusterIP'],
    ['LoadBalancer', 'NodePort'],
    ['LoadBalancer', 'ExternalName'],
    ['ClusterIP', 'ClusterIP'],
    ['LoadBalancer', 'LoadBalancer'],
  ] as const)
    it(`${to === 'LoadBalancer' ? 'keeps' : 'forgets'} what is known of a balancer from ${from} to ${to}`, () => {
      const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] };
      const conditions = [{ type: 'A', status: 'True' }];
      const old = { ...service({ type: from }), status: { loadBalancer, conditions } };
      const next = { ...service({ type: to }), status: structuredClone(old.status) };
      single.strategy.prepareForUpdate?.(next, old, 'v1');
      assert.deepEqual(next.status, { loadBalancer: to === 'LoadBalancer' ? loadBalancer : {}, conditions });
      assert.deepEqual(old.status, { loadBalancer, conditions }, 'the stored state is left as it is');
    });

  it('gets the second family when it asks for it, and drops it when it asks for one', async () => {
    const old = await dual.create({ ports: PORTS });
    const two = await dual.update(old, { ...specOf(old), ipFamilyPolicy: 'RequireDualStack' });
    assert.deepEqual(two.ipFamilies, ['IPv4', 'IPv6']);
    assert.equal(two.clusterIPs?.[0], specOf(old).clusterIP);
    assert.match(two.clusterIPs?.[1] ?? '', inV6);
    const one = await dual.update(service(two), { ...two, ipFamilyPolicy: 'SingleStack' });
    assert.deepEqual(one, specOf(old));
  });

  it('is refused fewer addresses without saying that one family is enough', async () => {
    const old = await dual.create({ ports: PORTS, ipFamilyPolicy: 'RequireDualStack' });
    const { clusterIP = '' } = specOf(old);
    const [cause = ''] = await causes(dual.update(old, { ...specOf(old), clusterIPs: [clusterIP] }));
    assert.match(cause, /^spec.ipFamilyPolicy: .*: must be 'SingleStack' to release the secondary cluster IP/);
  });

  it('leaves a service that prefers both as it is when the ranges have changed', async () => {
    const old = await single.create({ ports: PORTS, ipFamilyPolicy: 'PreferDualStack' });
    assert.deepEqual(await dual.update(old, specOf(old)), specOf(old));
    const other = new Scene('10.7.0.0/24');
    assert.deepEqual(await other.update(old, specOf(old)), specOf(old));
  });

  it('makes the list of addresses for a client that knows only the first', async () => {
    const old = service({ type: 'ExternalName' });
    assert.deepEqual((await single.update(old, { clusterIP: 'None', ports: PORTS })).clusterIPs, ['None']);
  });
});
