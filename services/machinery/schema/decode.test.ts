import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StatusError } from '../meta/status.js';
import { loadCatalog } from '../types/catalog.js';
import type { FieldDeclaration, TypeDeclaration } from '../types/declarations.js';
import { typeGraph, type TypeGraph } from '../types/graph.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { decodeObject } from './decode.js';

const types = (declared: Readonly<Record<string, TypeDeclaration>>): TypeGraph =>
  typeGraph(new Map(Object.entries(declared)));
const withFields = (...fields: FieldDeclaration[]): TypeGraph => types({ 'x/v1.T': { fields } });
const catalog = loadCatalog(vocabulary('platform'));

/** Decodes and writes, for the order of members matters. */
const text = (declared: TypeGraph, value: unknown, key = 'x/v1.T'): string =>
  JSON.stringify(decodeObject(declared.of(key), value).value);
const refusal = (declared: TypeGraph, value: unknown, key = 'x/v1.T'): string => {
  try {
    decodeObject(declared.of(key), value);
  } catch (err) {
    assert.ok(err instanceof StatusError);
    assert.equal(err.code, 400);
    return err.message;
  }
  throw new Error('was not refused');
};

describe('decodeObject()', () => {
  it('orders members as declared and drops nulls and unknown members', () => {
    const declared = withFields({ name: 'b', type: 'string' }, { name: 'a', type: 'int32' });
    assert.equal(text(declared, { a: 1, c: 2, b: 'x' }), '{"b":"x","a":1}');
    assert.equal(text(declared, { a: null, b: null }), '{}');
  });

  it('does not change its input and gives fresh objects', () => {
    const declared = withFields({ name: 'm', type: 'string', map: true }, { name: 'l', type: 'string', list: true });
    const input = { l: ['x'], m: { b: '1', a: '2' } };
    const value = decodeObject(declared.of('x/v1.T'), input).value as typeof input;
    value.l.push('y');
    value.m.b = '3';
    assert.deepEqual(input, { l: ['x'], m: { b: '1', a: '2' } });
  });

  it('matches names exactly', () => {
    assert.equal(text(withFields({ name: 'name', type: 'string' }), { Name: 'x', NAME: 'y' }), '{}');
  });

  it('leaves out zero values of members that are not pointers', () => {
    const declared = withFields(
      { name: 's', type: 'string' },
      { name: 'n', type: 'int32' },
      { name: 'b', type: 'bool' },
      { name: 'l', type: 'string', list: true },
      { name: 'm', type: 'string', map: true },
      { name: 'p', type: 'int32', nullable: true },
      { name: 'q', type: 'bool', nullable: true },
    );
    assert.equal(text(declared, { s: '', n: 0, b: false, l: [], m: {}, p: 0, q: false }), '{"p":0,"q":false}');
  });

  it('writes members that are always there, in the form of nothing', () => {
    const always = { alwaysEmit: true } as const;
    const declared = types({
      'x/v1.T': {
        fields: [
          { name: 's', type: 'string', ...always },
          { name: 'n', type: 'int64', ...always },
          { name: 'l', type: 'string', list: true, ...always },
          { name: 't', type: 'time', ...always },
          { name: 'q', type: 'quantity', ...always },
          { name: 'i', type: 'intOrString', ...always },
          { name: 'o', type: 'x/v1.Inner', ...always },
          { name: 'p', type: 'x/v1.Inner', nullable: true, ...always },
        ],
      },
      'x/v1.Inner': { fields: [{ name: 'd', type: 'x/v1.Deep', ...always }] },
      'x/v1.Deep': { fields: [{ name: 'x', type: 'string' }] },
    });
    assert.equal(text(declared, {}), '{"s":"","n":0,"l":null,"t":null,"q":"0","i":0,"o":{"d":{}},"p":null}');
    assert.equal(text(declared, { l: [], o: {} }), text(declared, {}));
  });

  it('takes the fields of inline types as its own', () => {
    const declared = types({
      'x/v1.T': {
        fields: [
          { name: 'head', type: 'x/v1.Head', inline: true },
          { name: 'z', type: 'string' },
        ],
      },
      'x/v1.Head': {
        fields: [
          { name: 'kind', type: 'string' },
          { name: 'z', type: 'int32', alwaysEmit: true },
        ],
      },
    });
    assert.equal(text(declared, { z: 'x', kind: 'T' }), '{"kind":"T","z":"x"}');
    assert.equal(text(declared, { kind: 'T' }), '{"kind":"T"}');
  });

  it('keeps hostile keys of maps as data, sorted', () => {
    const declared = withFields({ name: 'm', type: 'string', map: true });
    const value = JSON.parse('{"m":{"toString":"t","constructor":"c","__proto__":"p"}}') as unknown;
    assert.equal(text(declared, value), '{"m":{"__proto__":"p","constructor":"c","toString":"t"}}');
  });

  it('does not take inherited names for declared ones', () => {
    const value = JSON.parse('{"__proto__":{"s":"x"},"constructor":1}') as unknown;
    const { value: out, unknown } = decodeObject(withFields({ name: 's', type: 'string' }).of('x/v1.T'), value);
    assert.deepEqual(out, {});
    assert.deepEqual(unknown, ['__proto__', 'constructor']);
  });

  it('takes null elements for the zero of their type', () => {
    const declared = withFields({ name: 'l', type: 'string', list: true }, { name: 'm', type: 'quantity', map: true });
    assert.equal(text(declared, { l: ['a', null], m: { x: null } }), '{"l":["a",""],"m":{"x":"0"}}');
  });

  it('takes null elements of bytes for no bytes, though members of bytes are null where they say nothing', () => {
    const declared = withFields(
      { name: 'b', type: 'bytes', alwaysEmit: true },
      { name: 'l', type: 'bytes', list: true },
      { name: 'm', type: 'bytes', map: true },
    );
    assert.equal(
      text(declared, { b: null, l: [null, 'YQ=='], m: { x: null } }),
      '{"b":null,"l":["","YQ=="],"m":{"x":""}}',
    );
  });

  it('takes raw JSON over with its nulls and its order', () => {
    const declared = withFields({ name: 'r', type: 'rawJSON' });
    assert.equal(text(declared, { r: { b: null, a: [] } }), '{"r":{"b":null,"a":[]}}');
  });

  it('refuses raw JSON with integers that numbers do not keep, however deep', () => {
    const declared = withFields({ name: 'r', type: 'rawJSON' }, { name: 'l', type: 'rawJSON', list: true });
    for (const number of ['9007199254740993', '-9223372036854775808', '18446744073709551615']) {
      for (const shown of [number, `{"a":[{"b":${number}}]}`, `[1,${number}]`]) {
        assert.match(
          refusal(declared, { r: JSON.parse(shown) as unknown }),
          /cannot unmarshal number into Go struct field T\.r of type runtime\.RawExtension: integers beyond .* are not kept/,
        );
        assert.match(refusal(declared, { l: [JSON.parse(shown) as unknown] }), /T\.l of type runtime\.RawExtension/);
      }
    }
    const kept = { r: { a: [9007199254740991, -9007199254740991, 0.1, 1e300], b: '9007199254740993' } };
    assert.equal(text(declared, kept), JSON.stringify(kept));
  });

  it('reads named scalars, named lists and recursive types', () => {
    const declared = types({
      'x/v1.T': {
        fields: [
          { name: 'when', type: 'x/v1.When' },
          { name: 'names', type: 'x/v1.Names', map: true },
          { name: 'child', type: 'x/v1.T', nullable: true },
        ],
      },
      'x/v1.When': { scalar: 'time' },
      'x/v1.Names': { listOf: 'string' },
    });
    const value = { child: { child: {}, when: '2024-01-01T01:00:00+01:00' }, names: { a: ['b'] } };
    assert.equal(text(declared, value), '{"names":{"a":["b"]},"child":{"when":"2024-01-01T00:00:00Z","child":{}}}');
  });

  it('reads types whose JSON is one of several kinds', () => {
    const declared = types({
      'x/v1.T': { fields: [{ name: 'e', type: 'x/v1.Either', nullable: true }] },
      'x/v1.Either': {
        jsonForm: 'array of string or Inner',
        fields: [
          { name: 'inner', type: 'x/v1.Inner', nullable: true },
          { name: 'list', type: 'string', list: true },
        ],
      },
      'x/v1.Inner': { fields: [{ name: 'a', type: 'string' }] },
    });
    assert.equal(text(declared, { e: ['x'] }), '{"e":["x"]}');
    assert.equal(text(declared, { e: { a: 'x' } }), '{"e":{"a":"x"}}');
    assert.match(refusal(declared, { e: true }), /cannot unmarshal bool into Go struct field T\.e of type v1\.Either/);
  });

  describe('messages', () => {
    const told = (value: unknown, key = 'core/v1.Pod'): string => refusal(catalog.types, value, key);

    it('name the kind, the field and what came', () => {
      assert.equal(
        told({ metadata: { name: 5 } }),
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
      );
      assert.match(
        told({ spec: { containers: [{ name: true }] } }),
        /bool into Go struct field Container\.spec\.containers\.name of type string/,
      );
      assert.match(
        told({ metadata: { name: 'a' }, spec: 'x' }),
        /string into Go struct field Pod\.spec of type v1\.PodSpec/,
      );
      assert.match(
        told({ metadata: { labels: [] } }),
        /array into Go struct field ObjectMeta\.metadata\.labels of type map\[string\]string/,
      );
      assert.match(
        told({ metadata: { labels: { a: 1 } } }),
        /number into Go struct field ObjectMeta\.metadata\.labels of type string/,
      );
      assert.match(
        told({ spec: { containers: {} } }),
        /object into Go struct field PodSpec\.spec\.containers of type \[\]v1\.Container/,
      );
      assert.match(told([]), /array into Go value of type v1\.Pod/);
    });

    it('name numbers that do not fit', () => {
      assert.match(
        told({ spec: { replicas: 2 ** 31 } }, 'apps/v1.Deployment'),
        /number 2147483648 into Go struct field DeploymentSpec\.spec\.replicas of type int32/,
      );
      assert.match(told({ spec: { replicas: 1.5 } }, 'apps/v1.Deployment'), /number 1\.5 into/);
    });

    it('name numbers that are integers, but are not written like one', () => {
      const declared = withFields(
        { name: 'i', type: 'int32' },
        { name: 'm', type: 'intOrString', map: true },
        { name: 'd', type: 'double' },
        { name: 'q', type: 'quantity', list: true },
      );
      const read = (value: object, key: string, literal: string): unknown =>
        decodeObject(declared.of('x/v1.T'), value, { literals: new Map([[key, literal]]) }).value;
      assert.throws(() => read({ i: 1 }, '["i"]', '1.0'), /number 1\.0 into Go struct field T\.i of type int32$/);
      assert.throws(() => read({ m: { 'a.b': 1 } }, '["m","a.b"]', '1e0'), /number 1e0 into .* T\.m of type int32$/);
      assert.deepEqual(read({ d: 1, i: 2 }, '["d"]', '1.0'), { i: 2, d: 1 });
      assert.deepEqual(read({ q: ['1', 2e3] }, '["q",1]', '2e3'), { q: ['1', '2e3'] });
      assert.deepEqual(read({ q: [2e17] }, '["q",0]', '2e17'), { q: ['200e15'] });
    });

    it('say of integers that numbers do not keep that they are not kept', () => {
      const integer = (text: string): unknown => JSON.parse(`{"spec":{"activeDeadlineSeconds":${text}}}`);
      for (const text of ['9007199254740993', '-9007199254740992', '9223372036854775807', '18446744073709551616']) {
        assert.match(
          told(integer(text)),
          /cannot unmarshal number into Go struct field PodSpec\.spec\.activeDeadlineSeconds of type int64: integers beyond 9007199254740991 are not kept exactly$/,
        );
      }
      assert.match(told(integer('1e30')), /number 1e\+30 into Go struct field .* of type int64$/);
      for (const text of ['9007199254740991', '-9007199254740991']) {
        const pod = decodeObject(catalog.types.of('core/v1.Pod'), integer(text)).value as { spec: object };
        assert.deepEqual(pod.spec, { containers: null, activeDeadlineSeconds: Number(text) });
      }
      const quota = JSON.parse('{"spec":{"hard":{"cpu":9007199254740993}}}') as unknown;
      assert.match(
        told(quota, 'core/v1.ResourceQuota'),
        /spec\.hard\.cpu: integers beyond .* write the quantity as a string$/,
      );
    });

    it('name the place of a malformed text', () => {
      assert.match(told({ data: { a: 'x' } }, 'core/v1.Secret'), /: data\.a: illegal base64 data$/);
      assert.match(
        told({ metadata: { creationTimestamp: 'x' } }),
        /: metadata\.creationTimestamp: parsing time "x" as /,
      );
      const pod = { spec: { containers: [{}, { resources: { limits: { cpu: '1x' } } }] } };
      assert.match(told(pod), /: spec\.containers\[1\]\.resources\.limits\.cpu: quantities must match/);
    });

    it('stay short whatever is in the body', () => {
      const long = 'x'.repeat(100_000);
      assert.ok(told({ data: { [long.slice(0, 60_000)]: '?' } }, 'core/v1.Secret').length < 1000);
      assert.ok(told({ data: { [long]: '?' } }, 'core/v1.Secret').length < 1000);
      assert.ok(told({ metadata: { creationTimestamp: long } }).length < 1000);
    });
  });

  it('reports unknown members with their paths, up to a bound', () => {
    const pod = { speck: 1, spec: { x: 1, containers: [{ name: 'a' }, { imagee: 'b' }], y: 1 } };
    const { unknown } = decodeObject(catalog.types.of('core/v1.Pod'), pod);
    assert.deepEqual(unknown, ['speck', 'spec.x', 'spec.containers[1].imagee', 'spec.y']);
    assert.equal(decodeObject(catalog.types.of('core/v1.Pod'), pod, { maxUnknown: 2 }).unknown.length, 2);
  });

  describe('with the built-in types', () => {
    it('shows the creationTimestamp of an object inside another, and not of the object itself', () => {
      const spec = { template: { spec: { containers: [{ name: 'a' }] } } };
      assert.equal(
        text(catalog.types, { metadata: { name: 'n' }, spec }, 'apps/v1.Deployment'),
        '{"metadata":{"name":"n"},"spec":{"selector":null,"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"a","resources":{}}]}},"strategy":{}},"status":{}}',
      );
    });

    it('refuses or decodes whatever comes, and a decoded object stays as it is', () => {
      const definitions = catalog.resources.find((r) => r.kind === 'CustomResourceDefinition')!;
      const keys = ['core/v1.Pod', 'core/v1.Secret', definitions.type];
      const member = fc.constantFrom(
        'metadata',
        'spec',
        'data',
        'name',
        'labels',
        'containers',
        'versions',
        '__proto__',
      );
      const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
      const body = fc.letrec((tie) => ({
        node: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('node')), fc.dictionary(member, tie('node'))),
      })).node;
      fc.assert(
        fc.property(fc.constantFrom(...keys), body, (key, value) => {
          let once: unknown;
          try {
            once = decodeObject(catalog.types.of(key), value).value;
          } catch (err) {
            assert.ok(err instanceof StatusError, String(err));
            return;
          }
          assert.equal(text(catalog.types, once, key), JSON.stringify(once));
        }),
      );
    });

    it('can compile every type', () => {
      for (const key of catalog.types.keys()) {
        try {
          decodeObject(catalog.types.of(key), {});
        } catch (err) {
          assert.ok(err instanceof StatusError, `${key}: ${String(err)}`); // named scalars and lists are no objects
        }
      }
    });
  });
});
