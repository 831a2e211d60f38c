import assert from 'node:assert/strict';
import { encodeEnvelope } from '../../../machinery/codec/protobuf/envelope.js';
import { encodeProtobuf } from '../../../machinery/codec/protobuf/encode.js';
import { encodeList, LATE_METADATA_NUMBERS, LIST_NUMBERS, listItem } from '../../../machinery/codec/protobuf/list.js';
import type { JsonObject } from '../../../machinery/meta/object.js';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { META_TYPES } from '../../../machinery/types/meta-types.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { protobufStatus } from '../../http/respond.js';
import { encodedBody, splicedBody, withoutManagedFields } from './bodies.js';
import { complete, referenceJson, type ObjectReference } from './object-reference.js';
import { protobufReader } from './protobuf-answer.js';
import { statusIn, statusJson } from './status.js';

describe('splicedBody()', () => {
  it('keeps the bytes of JSON', () => {
    assert.deepEqual(splicedBody(Buffer.from('{"a":"ä\\n"}')), { text: '{"a":"ä\\n"}', bytes: 12 });
  });

  it('puts JSON on one line without a change of what it says', () => {
    const pretty = Buffer.from('{\r\n  "a": "x\\ny",\n  "b": [\n 1 ]\r}');
    const { text } = splicedBody(pretty);
    assert.doesNotMatch(text, /[\r\n]/);
    assert.deepEqual(JSON.parse(text), { a: 'x\ny', b: [1] });
  });
});

describe('withoutManagedFields()', () => {
  const metadata = (name: string): object => ({ name, managedFields: [{ manager: 'm' }] });
  const stripped = (value: unknown): unknown => {
    const body = encodedBody(value);
    return body === undefined ? undefined : (JSON.parse(withoutManagedFields(body).text) as unknown);
  };

  it('takes them from an object, from the items of a list and from the rows of a table', () => {
    assert.deepEqual(stripped({ metadata: metadata('a') }), { metadata: { name: 'a' } });
    assert.deepEqual(stripped({ items: [{ metadata: metadata('a') }, 1] }), {
      items: [{ metadata: { name: 'a' } }, 1],
    });
    assert.deepEqual(stripped({ rows: [{ object: { metadata: metadata('a') } }, { cells: [] }] }), {
      rows: [{ object: { metadata: { name: 'a' } } }, { cells: [] }],
    });
  });

  it('leaves what others call so', () => {
    const data = { metadata: { name: 'a' }, data: { managedFields: 'x' } };
    assert.deepEqual(stripped(data), data);
    assert.deepEqual(stripped([{ managedFields: 1 }]), [{ managedFields: 1 }]);
  });

  it('does not read a body that has none', () => {
    const body = { text: 'no JSON', bytes: 7 };
    assert.equal(withoutManagedFields(body), body);
  });
});

describe('protobufReader()', () => {
  const catalog = loadCatalog(vocabulary('kubernetes'));
  const read = protobufReader(catalog);
  const configMap = (name: string): Buffer =>
    encodeProtobuf(catalog.types.of('core/v1.ConfigMap'), { metadata: { name }, data: { a: 'b' } });

  it('reads an object', () => {
    const object = read(encodeEnvelope('v1', 'ConfigMap', configMap('x'))) as { metadata: JsonObject } & JsonObject;
    assert.deepEqual([object['kind'], object['apiVersion'], object.metadata['name']], ['ConfigMap', 'v1', 'x']);
    assert.deepEqual(object['data'], { a: 'b' });
  });

  it('reads an object of a named group', () => {
    const raw = encodeProtobuf(catalog.types.of('coordination.k8s.io/v1.Lease'), { metadata: { name: 'x' } });
    assert.equal(read(encodeEnvelope('coordination.k8s.io/v1', 'Lease', raw))?.['kind'], 'Lease');
  });

  const LISTS = [
    ['v1', 'ConfigMapList', LIST_NUMBERS, configMap],
    ['meta.k8s.io/v1', 'PartialObjectMetadataList', LIST_NUMBERS, partial],
    ['meta.k8s.io/v1beta1', 'PartialObjectMetadataList', LATE_METADATA_NUMBERS, partial],
  ] as const;
  for (const [apiVersion, kind, numbers, item] of LISTS) {
    it(`reads a ${kind} of ${apiVersion}`, () => {
      const items = [item('x'), item('y')].flatMap((raw) => listItem(numbers, raw));
      const metadata = { resourceVersion: '7' };
      const list = read(Buffer.concat(encodeList({ apiVersion, kind, metadata }, items, numbers)));
      const { items: found, metadata: said } = list as unknown as {
        items: { metadata: { name: string } }[];
        metadata: { resourceVersion: string };
      };
      assert.deepEqual([list?.['kind'], said.resourceVersion], [kind, '7']);
      assert.deepEqual(
        found.map((it) => it.metadata.name),
        ['x', 'y'],
      );
    });
  }

  it('reads a Status', () => {
    const status = read(protobufStatus({ status: 'Success', code: 200 }));
    assert.deepEqual([status?.['kind'], status?.['status'], status?.['code']], ['Status', 'Success', 200]);
  });

  it('reads nothing of a kind that it does not know', () => {
    assert.equal(read(encodeEnvelope('v1', 'Nothing', Buffer.alloc(0))), undefined);
    assert.equal(read(encodeEnvelope('a/b/c', 'NothingList', Buffer.alloc(0))), undefined);
  });
});

function partial(name: string): Buffer {
  return encodeProtobuf(META_TYPES.of('meta/v1.PartialObjectMetadata'), { metadata: { name } });
}

describe('statusIn()', () => {
  it('finds a Status, and nothing else', () => {
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'a' } };
    assert.equal(statusIn(Buffer.from(JSON.stringify(status)))?.status, 'Success');
    assert.equal(statusIn(Buffer.from('{"kind":"Pod","apiVersion":"v1","status":"Success"}')), undefined);
    assert.equal(statusIn(Buffer.alloc(0)), undefined);
  });
});

describe('statusJson()', () => {
  it('keeps what is bounded, and the code that the answer went out with', () => {
    const said = { kind: 'Status', metadata: { continue: 'x' }, status: 'Failure', message: 'm', code: 200 } as const;
    assert.equal(statusJson(410, said), '{"metadata":{},"status":"Failure","message":"m","code":410}');
    assert.equal(statusJson(200), '{"metadata":{},"code":200}');
  });
});

describe('complete()', () => {
  const reference = (over: Partial<ObjectReference> = {}): ObjectReference => ({
    resource: 'pods',
    namespace: '',
    name: '',
    uid: '',
    apiGroup: '',
    apiVersion: 'v1',
    resourceVersion: '',
    subresource: '',
    ...over,
  });

  it('takes from the object what the path does not say', () => {
    const it = reference({ namespace: 'here' });
    complete(it, { metadata: { name: 'a', namespace: 'there', uid: 'u', resourceVersion: '7' } });
    assert.equal(
      referenceJson(it),
      '{"resource":"pods","namespace":"here","name":"a","uid":"u","apiVersion":"v1","resourceVersion":"7"}',
    );
  });

  for (const [what, object] of [
    ['no object', null],
    ['a list', [{ metadata: { name: 'a' } }]],
    ['no metadata', { name: 'a' }],
    ['metadata that is none', { metadata: 'a' }],
    ['a name that is none', { metadata: { name: 1, uid: { a: 1 } } }],
    ['a name that is too long', { metadata: { name: 'x'.repeat(513) } }],
    ['what a prototype holds', { metadata: Object.create({ name: 'a' }) as object }],
  ] as const) {
    it(`takes nothing from ${what}`, () => {
      const it = reference();
      complete(it, object);
      assert.deepEqual(it, reference());
    });
  }
});
