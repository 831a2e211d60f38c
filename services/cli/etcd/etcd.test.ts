import assert from 'node:assert/strict';
import { Maintenance, type MemberStatus } from '../../storage/etcd/maintenance.js';
import { openEtcdStore } from '../../storage/etcd/store.js';
import { isStoreError, revision, type KeyValueStore } from '../../storage/store.js';
import { startEtcdMembers, type EtcdMembers } from '../../storage/testing/start-etcd-members.js';
import { clusterFaults, clusterState, memberFaults } from './cluster-health.js';
import { defragmentAll, nextOf } from './defragment.js';
import { disarmSpace } from './disarm.js';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;

const member = (id: string, o: Partial<MemberStatus> = {}): MemberStatus => ({
  endpoint: `http://${id}`,
  id,
  version: '3.5.21',
  bytes: 0,
  bytesInUse: 0,
  leader: '3',
  revision: revision(1),
  raftTerm: 2,
  raftIndex: 10_000,
  raftAppliedIndex: 10_000,
  isLearner: false,
  errors: [],
  ...o,
});

describe('faults of etcd', () => {
  it('are told of a member', () => {
    const all = [member('1'), member('3', { raftIndex: 20_000, raftAppliedIndex: 20_000 })];
    assert.deepEqual(memberFaults(member('1'), [member('1'), member('3')]), []);
    assert.deepEqual(memberFaults(member('1'), all), ['it is 10000 entries behind']);
    assert.deepEqual(memberFaults(member('1', { leader: '0', isLearner: true }), []), [
      'it has no leader',
      'it is a learner',
    ]);
    const errors = ['memberID:1 alarm:NOSPACE ', 'memberID:1 alarm:CORRUPT '];
    assert.deepEqual(memberFaults(member('1', { errors }), []), ['memberID:1 alarm:CORRUPT ']);
  });

  it('are told of the cluster', () => {
    assert.deepEqual(clusterFaults([member('1'), member('3')], ['1', '3']), []);
    assert.deepEqual(clusterFaults([member('1')], undefined), ['the members of the cluster are not known']);
    assert.deepEqual(clusterFaults([member('1'), member('3', { leader: '1' })], ['1', '3', '171']), [
      'members follow different leaders',
      'no endpoint that answers is given for the members ab',
    ]);
    assert.deepEqual(clusterFaults([member('1'), member('10')], ['1']), ['the members a are of another cluster']);
  });

  it('keep the leader to the end', () => {
    assert.equal(nextOf([member('3'), member('1')])?.id, '1');
    assert.equal(nextOf([member('3')])?.id, '3');
    assert.equal(nextOf([]), undefined);
  });
});

describe('a full etcd of three members', function () {
  this.timeout(60_000);
  let cluster: EtcdMembers;
  let etcd: Maintenance;
  let store: KeyValueStore;
  before(async () => {
    cluster = await startEtcdMembers(3, [`--quota-backend-bytes=${8 << 20}`]);
    etcd = new Maintenance({ endpoints: cluster.urls, log });
    store = await openEtcdStore({ endpoints: cluster.urls, log });
  });
  after(async () => {
    etcd.close();
    await store.close();
    await cluster.stop();
  });

  const write = (): Promise<unknown> =>
    store.transact(
      { conditions: [], operations: [{ type: 'put', key: '/a', value: Buffer.alloc(500_000, 'x') }] },
      never,
    );

  it('is compacted, defragmented one member after the other with the leader last, and takes writes again', async () => {
    assert.equal(await disarmSpace({ etcd, pauseMs: 0, report: () => undefined }, never), 0);
    await assert.rejects(
      async () => {
        for (let i = 0; i < 60; i++) await write();
      },
      (err) => isStoreError(err, 'noSpace'),
    );
    const before = await clusterState(etcd, never);
    assert.deepEqual(before.faults, []);
    assert.equal(before.endpoints.length, 3);
    const leader = before.endpoints.find(({ status }) => status?.id === status?.leader)?.endpoint;
    const told: string[] = [];
    const count = await disarmSpace({ etcd, pauseMs: 1, report: (line) => told.push(line) }, never);
    assert.ok(count >= 1);
    const order = told.flatMap((line) => /^Defragmenting (\S+?),? ?(the leader)?$/.exec(line)?.slice(1, 3) ?? []);
    assert.deepEqual([order.length, order[4], order[5]], [6, leader, 'the leader'], told.join('\n'));
    const after = await clusterState(etcd, never);
    for (const { status } of after.endpoints) assert.ok((status?.bytes ?? Infinity) < 4 << 20);
    assert.deepEqual(await etcd.alarms(never), []);
    await write();
  });

  it('is left alone when a member is not well, or not named', async () => {
    const partly = new Maintenance({ endpoints: cluster.urls.slice(0, 2), log });
    const o = { pauseMs: 0, report: (line: string) => assert.fail(line) };
    await assert.rejects(
      defragmentAll({ ...o, etcd: partly }, never),
      /no endpoint that answers is given for the members/,
    );
    partly.close();
    await cluster.members[0]?.kill();
    await assert.rejects(defragmentAll({ ...o, etcd }, never), /Not all members are well: .*no endpoint that answers/);
  });
});
