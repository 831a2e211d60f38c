import assert from 'node:assert/strict';
import { type MetadataRules, validateMetadata, validateMetadataUpdate } from './metadata.js';
import type { ObjectMeta, OwnerReference } from './object.js';

const NAMESPACED: MetadataRules = { namespaced: true, nameRule: 'dns1123-subdomain' };
const told = (meta: ObjectMeta, rules = NAMESPACED): string[] =>
  validateMetadata({ name: 'a', namespace: 'd', ...meta }, rules).map((e) => `${e.field}: ${e.message}`);
const toldOfUpdate = (next: ObjectMeta, old: ObjectMeta): string[] =>
  validateMetadataUpdate({ name: 'a', ...next }, { name: 'a', ...old }).map((e) => `${e.field}: ${e.message}`);

describe('validateMetadata()', () => {
  it('takes ordinary metadata', () => {
    const meta: ObjectMeta = {
      generateName: 'a-',
      labels: { app: 'x', 'example.com/Tier': '' },
      annotations: { 'Example.com/any': 'any value at all\n' },
      finalizers: ['example.com/x', 'orphan'],
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
    };
    assert.deepEqual(told(meta), []);
  });

  it('asks for a name', () => {
    assert.deepEqual(told({ name: '' }), ['metadata.name: Required value: name or generateName is required']);
  });

  it('holds names and their prefixes to the rule of the kind', () => {
    assert.match(told({ name: 'A' })[0] ?? '', /^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/);
    assert.match(told({ generateName: 'Ab-' })[0] ?? '', /^metadata\.generateName: Invalid value: "Ab-": a lowercase/);
    assert.deepEqual(told({ name: 'A' }, { ...NAMESPACED, nameRule: 'path-segment' }), []);
  });

  it('holds names to the length of the kind', () => {
    assert.deepEqual(told({ name: 'abc' }, { ...NAMESPACED, nameMax: 2 }), [
      'metadata.name: Invalid value: "abc": must be no more than 2 characters',
    ]);
  });

  it('asks for a namespace exactly where there is one', () => {
    assert.deepEqual(told({ namespace: '' }), ['metadata.namespace: Required value']);
    assert.match(told({ namespace: 'a.b' })[0] ?? '', /^metadata\.namespace: Invalid value: "a\.b"/);
    assert.deepEqual(told({}, { namespaced: false, nameRule: 'path-segment' }), [
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });

  it('checks keys and values of labels', () => {
    assert.match(told({ labels: { 'a b': 'x' } })[0] ?? '', /^metadata\.labels: Invalid value: "a b": name part must/);
    assert.match(told({ labels: { a: 'x y' } })[0] ?? '', /^metadata\.labels: Invalid value: "x y": a valid label/);
    const hostile = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    assert.equal(told({ labels: hostile }).length, 1);
  });

  it('bounds annotations as a whole, in bytes', () => {
    const half = 'ü'.repeat(64 * 1024);
    assert.deepEqual(told({ annotations: { a: half, b: half.slice(1) } }), []);
    assert.match(told({ annotations: { a: half, b: half } })[0] ?? '', /^metadata\.annotations: Too long/);
  });

  it('refuses negative generations', () => {
    assert.equal(
      told({ generation: -1 })[0],
      'metadata.generation: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  it('refuses owners that say too little, and a second controller', () => {
    const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true };
    assert.deepEqual(told({ ownerReferences: [{ ...owner, uid: '' }] }), [
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ]);
    assert.match(told({ ownerReferences: [{ ...owner, apiVersion: '' }] })[0] ?? '', /version must not be empty/);
    assert.match(told({ ownerReferences: [{ ...owner, kind: 'Event' }] })[0] ?? '', /disallowed from being an owner/);
    assert.match(
      told({ ownerReferences: [owner, { ...owner, name: 'q' }] })[0] ?? '',
      /Only one reference can have Controller set to true\. Found "true" in references for p and q/,
    );
  });

  it('refuses finalizers without a domain, except those it knows', () => {
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    assert.deepEqual(told({ finalizers: ['mine'] }), [`metadata.finalizers[0]: Invalid value: "mine": ${why}`]);
    assert.deepEqual(told({ finalizers: ['mine'] }, { ...NAMESPACED, bareFinalizers: 'any' }), []);
    assert.deepEqual(told({ finalizers: ['mine'] }, { ...NAMESPACED, bareFinalizers: new Set(['mine']) }), []);
    assert.match(told({ finalizers: ['orphan', 'foregroundDeletion'] })[0] ?? '', /cannot be both set/);
  });
});

describe('validateMetadataUpdate()', () => {
  it('takes changes of labels, annotations and finalizers', () => {
    assert.deepEqual(toldOfUpdate({ labels: { a: 'b' }, finalizers: ['x/y'] }, { creationTimestamp: null }), []);
  });

  for (const member of ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const) {
    it(`refuses another ${member}`, () => {
      assert.deepEqual(toldOfUpdate({ [member]: 'new' }, { [member]: 'old' }), [
        `metadata.${member}: Invalid value: "new": field is immutable`,
      ]);
    });
  }

  it('refuses a lower generation', () => {
    assert.deepEqual(toldOfUpdate({ generation: 1 }, { generation: 2 }), [
      'metadata.generation: Invalid value: 1: must not be decremented',
    ]);
  });

  it('refuses new finalizers once the object is being deleted', () => {
    const deletionTimestamp = '2024-01-01T00:00:00Z';
    const old = { deletionTimestamp, finalizers: ['a/b', 'a/c'] };
    assert.deepEqual(toldOfUpdate({ deletionTimestamp, finalizers: ['a/b'] }, old), []);
    assert.deepEqual(toldOfUpdate({ deletionTimestamp, finalizers: ['a/b', 'x'] }, old), [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x"}',
    ]);
  });
});
