import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';

import { loadSync, type ServiceDefinition } from '@grpc/proto-loader';

import { isStoreError, revision, type LeaseId } from '../store.js';
import { keySpace, prefixRange, rangeFrom } from './keys.js';
import {
  decodeRange,
  decodeTxn,
  decodeVersion,
  encodeCompaction,
  encodeGet,
  encodeHead,
  encodeRange,
  encodeTxn,
} from './messages.js';
import { ALL_WATCHES, decodeWatchResponse, encodeWatchCreate, encodeWatchProgress } from './watch-messages.js';

const proto = loadSync(fileURLToPath(new URL('../../../proto/etcd/rpc.proto', import.meta.url)), {
  keepCase: true,
  longs: String,
});

/** What a general protobuf library makes of the same bytes. */
function service(name: string): ServiceDefinition {
  const found = proto[`etcdserverpb.${name}`];
  assert.ok(found !== undefined && !('format' in found), `rpc.proto has no service ${name}`);
  return found;
}

const request = (name: string, method: string, bytes: Buffer): unknown =>
  service(name)[method]!.requestDeserialize(bytes);
const answer = (name: string, method: string, value: object): Buffer => service(name)[method]!.responseSerialize(value);

const space = keySpace();
const bytes = (text: string): Buffer => Buffer.from(text);
const WIDE = '9007199254740991';

describe('encodeTxn()', () => {
  it('writes conditions, operations and reads as the proto file has them', () => {
    const lease = '7587886533475129863' as LeaseId;
    const encoded = encodeTxn(space, {
      conditions: [
        { key: '/a', modRevision: revision(0) },
        { key: '/é', modRevision: revision(Number(WIDE)) },
      ],
      operations: [
        { type: 'put', key: '/a', value: bytes('one'), lease },
        { type: 'put', key: '/b', value: Buffer.alloc(0) },
        { type: 'delete', key: '/c' },
      ],
      otherwiseGet: ['/a', '/b'],
    });
    assert.deepEqual(request('KV', 'Txn', encoded), {
      compare: [
        { result: 'EQUAL', target: 'MOD', key: bytes('/a'), mod_revision: '0' },
        { result: 'EQUAL', target: 'MOD', key: bytes('/é'), mod_revision: WIDE },
      ].map((it) => ({ ...it, result: 0, target: 2 })),
      success: [
        { request_put: { key: bytes('/a'), value: bytes('one'), lease } },
        { request_put: { key: bytes('/b'), value: Buffer.alloc(0) } },
        { request_delete_range: { key: bytes('/c') } },
      ],
      failure: [{ request_range: { key: bytes('/a') } }, { request_range: { key: bytes('/b') } }],
    });
  });

  it('puts the prefix of the store before every key', () => {
    const encoded = encodeTxn(keySpace('/own'), {
      conditions: [{ key: '/a', modRevision: revision(1) }],
      operations: [{ type: 'delete', key: '/b' }],
      otherwiseGet: ['/c'],
    });
    for (const key of ['/own/a', '/own/b', '/own/c']) assert.ok(encoded.includes(key), key);
  });

  it('refuses what cannot be a lease, and is whole again after that', () => {
    const put = (lease: string): Buffer =>
      encodeTxn(space, {
        conditions: [],
        operations: [
          { type: 'put', key: '/first', value: bytes('v'), lease: lease as LeaseId },
          { type: 'delete', key: '/second' },
        ],
      });
    assert.throws(
      () => put('0x10'),
      (err) => isStoreError(err, 'leaseNotFound'),
    );
    assert.deepEqual(request('KV', 'Txn', put('5')), {
      success: [
        { request_put: { key: bytes('/first'), value: bytes('v'), lease: '5' } },
        { request_delete_range: { key: bytes('/second') } },
      ],
    });
  });
});

describe('encodeRange() and its like', () => {
  it('write prefix, limit and revision', () => {
    const encoded = encodeRange(prefixRange(space, '/a/'), { limit: 500, revision: revision(7) });
    assert.deepEqual(request('KV', 'Range', encoded), {
      key: bytes('/a/'),
      range_end: bytes('/a0'),
      limit: '500',
      revision: '7',
    });
  });

  it('write a start within the prefix', () => {
    const encoded = encodeRange(rangeFrom(space, '/a/', '/a/k\0'), {});
    assert.deepEqual(request('KV', 'Range', encoded), { key: bytes('/a/k\0'), range_end: bytes('/a0') });
  });

  it('write one key, the question for the head, and a compaction', () => {
    assert.deepEqual(request('KV', 'Range', encodeGet(space, '/a', undefined)), { key: bytes('/a') });
    assert.deepEqual(request('KV', 'Range', encodeHead(space)), { key: bytes('\0'), count_only: true });
    assert.deepEqual(request('KV', 'Compact', encodeCompaction(revision(9))), { revision: '9' });
  });
});

const header = { cluster_id: '18446744073709551615', member_id: '14841639068965178418', revision: '4503599627370497' };
const HEAD = 4503599627370497;

describe('decodeRange()', () => {
  it('reads every field that counts, whatever else is there', () => {
    const kvs = [
      {
        key: bytes('/own/a'),
        value: bytes('A'),
        create_revision: '2',
        mod_revision: WIDE,
        version: '3',
        lease: '7587886533475129863',
      },
      { key: bytes('/own/b'), value: Buffer.alloc(0), create_revision: '5', mod_revision: '5', version: '1' },
    ];
    const encoded = answer('KV', 'Range', { header, kvs, more: true, count: '12' });
    assert.deepEqual(decodeRange(encoded, keySpace('/own')), {
      revision: HEAD,
      kvs: [
        { key: '/a', value: bytes('A'), createRevision: 2, modRevision: Number(WIDE) },
        { key: '/b', value: Buffer.alloc(0), createRevision: 5, modRevision: 5 },
      ],
      more: true,
      count: 12,
    });
  });

  it('refuses an answer that is cut', () => {
    const encoded = answer('KV', 'Range', { header, kvs: [{ key: bytes('/a'), value: bytes('A'.repeat(100)) }] });
    assert.throws(
      () => decodeRange(encoded.subarray(0, encoded.length - 1), space),
      (err) => isStoreError(err, 'corrupt'),
    );
  });
});

describe('decodeTxn()', () => {
  it('reads success', () => {
    const responses = [{ response_put: { header } }, { response_delete_range: { header, deleted: '1' } }];
    const encoded = answer('KV', 'Txn', { header, succeeded: true, responses });
    assert.deepEqual(decodeTxn(encoded, space), { succeeded: true, revision: HEAD });
  });

  it('reads what was found instead, in order, and what was not', () => {
    const kv = { key: bytes('/b'), value: bytes('B'), create_revision: '2', mod_revision: '3' };
    const responses = [{ response_range: { header } }, { response_range: { header, kvs: [kv], count: '1' } }];
    const encoded = answer('KV', 'Txn', { header, succeeded: false, responses });
    const found = { key: '/b', value: bytes('B'), createRevision: 2, modRevision: 3 };
    assert.deepEqual(decodeTxn(encoded, space), { succeeded: false, revision: HEAD, found: [undefined, found] });
  });
});

describe('decodeVersion()', () => {
  it('reads the version of a member', () => {
    const status = { header, version: '3.5.16', dbSize: '20480', leader: '14841639068965178418', raftTerm: '2' };
    assert.equal(decodeVersion(answer('Maintenance', 'Status', status)), '3.5.16');
  });
});

describe('encodeWatchCreate()', () => {
  it('asks for fragments, progress and previous values', () => {
    const create = { range: prefixRange(space, '/a/'), from: revision(5), withPrevious: true };
    assert.deepEqual(request('Watch', 'Watch', encodeWatchCreate(create)), {
      create_request: {
        key: bytes('/a/'),
        range_end: bytes('/a0'),
        start_revision: '5',
        progress_notify: true,
        prev_kv: true,
        fragment: true,
      },
    });
  });

  it('asks for everything under an empty prefix', () => {
    const create = { range: prefixRange(space, ''), from: revision(1), withPrevious: false };
    const { create_request } = request('Watch', 'Watch', encodeWatchCreate(create)) as { create_request: object };
    assert.deepEqual(create_request, {
      key: bytes('\0'),
      range_end: bytes('\0'),
      start_revision: '1',
      progress_notify: true,
      fragment: true,
    });
  });

  it('has a request for progress beside it', () => {
    assert.deepEqual(request('Watch', 'Watch', encodeWatchProgress()), { progress_request: {} });
  });
});

describe('decodeWatchResponse()', () => {
  it('reads events', () => {
    const events = [
      {
        type: 'PUT',
        kv: { key: bytes('/a'), value: bytes('A'), create_revision: '2', mod_revision: '4', version: '2' },
        prev_kv: { key: bytes('/a'), value: bytes('a'), create_revision: '2', mod_revision: '2' },
      },
      { type: 'DELETE', kv: { key: bytes('/b'), mod_revision: '4' } },
    ];
    const got = decodeWatchResponse(answer('Watch', 'Watch', { header, watch_id: '3', fragment: true, events }), space);
    assert.deepEqual([got.head, got.watchId, got.fragment, got.created, got.canceled], [HEAD, 3, true, false, false]);
    assert.deepEqual(got.events, [
      { type: 'put', key: '/a', value: bytes('A'), createRevision: 2, modRevision: 4, previous: bytes('a') },
      { type: 'delete', key: '/b', value: Buffer.alloc(0), createRevision: 0, modRevision: 4, previous: undefined },
    ]);
  });

  it('reads the end of a watch', () => {
    const ended = { header, watch_id: '0', canceled: true, compact_revision: '70', cancel_reason: 'compacted' };
    const got = decodeWatchResponse(answer('Watch', 'Watch', ended), space);
    assert.deepEqual([got.canceled, got.compactRevision, got.cancelReason], [true, 70, 'compacted']);
  });

  it('reads progress of all watches', () => {
    const got = decodeWatchResponse(answer('Watch', 'Watch', { header, watch_id: '-1' }), space);
    assert.deepEqual([got.watchId, got.events], [ALL_WATCHES, []]);
  });
});
