import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StatusError } from '../meta/status.js';
import type { SelectableField } from '../types/declarations.js';
import type { FieldSelector } from './field-selector.js';
import { compileFieldSelector, parseFieldSelector } from './field-selector.js';
import { processorMs } from '../testing/processor-time.js';

const declared = (...keys: string[]): SelectableField[] => keys.map((key) => ({ key, paths: [], absent: '' }));
const FIELDS = declared('metadata.name', 'metadata.namespace', 'status.phase', 'spec.nodeName');
const compiled = (text: string, fields = FIELDS): FieldSelector =>
  compileFieldSelector(parseFieldSelector(text), fields, 'core/v1, Kind=Pod');
const matches = (text: string, object: Record<string, string>): boolean =>
  compiled(text).matches((key) => object[key] ?? '');
const refusal = (text: string, fields = FIELDS): StatusError => {
  try {
    compiled(text, fields);
  } catch (err) {
    assert.ok(err instanceof StatusError);
    assert.equal(err.code, 400);
    return err;
  }
  throw new Error('was not refused');
};

describe('parseFieldSelector()', () => {
  it('reads terms, sorted, without empty ones', () => {
    assert.deepEqual(parseFieldSelector('c==d,,a!=b'), [
      { key: 'a', operator: '!=', value: 'b' },
      { key: 'c', operator: '=', value: 'd' },
    ]);
    assert.deepEqual(parseFieldSelector(''), []);
    assert.deepEqual(parseFieldSelector('a='), [{ key: 'a', operator: '=', value: '' }]);
  });

  it('reads escapes in values', () => {
    assert.deepEqual(parseFieldSelector('a=x\\,y\\=z\\\\,b=c'), [
      { key: 'a', operator: '=', value: 'x,y=z\\' },
      { key: 'b', operator: '=', value: 'c' },
    ]);
  });

  it('keeps white space', () => {
    assert.deepEqual(parseFieldSelector('a = b'), [{ key: 'a ', operator: '=', value: ' b' }]);
  });

  it('refuses what it cannot understand', () => {
    assert.equal(refusal('a').message, "invalid selector: 'a'; can't understand 'a'");
    assert.equal(refusal('a=\\x').message, 'invalid field selector: invalid escape sequence: \\x');
    assert.equal(refusal('a=b\\').message, 'invalid field selector: invalid escape sequence: \\');
    assert.equal(refusal('a=b=c').message, 'invalid field selector: unescaped character in value: =');
    assert.match(refusal('a=b,'.repeat(101)).message, /at most 100 terms/);
    assert.match(refusal('a'.repeat(70_000)).message, /at most 65536 characters/);
  });

  it('takes linear time', () => {
    const tookMs = processorMs(() => {
      refusal('!'.repeat(60_000));
      refusal('\\,'.repeat(30_000));
    });
    assert.ok(tookMs < 2_000);
  });
});

describe('compileFieldSelector()', () => {
  it('compares values', () => {
    assert.equal(matches('status.phase=Running', { 'status.phase': 'Running' }), true);
    assert.equal(matches('status.phase=Running', {}), false);
    assert.equal(matches('status.phase!=Running', {}), true);
    assert.equal(matches('status.phase!=Running,spec.nodeName=n', { 'spec.nodeName': 'n' }), true);
    assert.equal(
      matches('status.phase!=Running,spec.nodeName=n', { 'status.phase': 'Running', 'spec.nodeName': 'n' }),
      false,
    );
    assert.equal(compiled('').empty, true);
  });

  it('says when one name or namespace is asked for', () => {
    assert.equal(compiled('metadata.name=a,status.phase=b').exactName(), 'a');
    assert.equal(compiled('metadata.name!=a').exactName(), undefined);
    assert.equal(compiled('metadata.name=').exactName(), undefined);
    assert.equal(compiled('metadata.namespace=d').exactNamespace(), 'd');
    assert.equal(compiled('metadata.name=a').exactNamespace(), undefined);
  });

  it('refuses keys that the resource does not select by', () => {
    const err = refusal('spec.x=1');
    assert.equal(err.message, 'field label not supported: spec.x');
    assert.match(err.details?.causes?.[0]?.message ?? '', /^core\/v1, Kind=Pod selects by metadata\.name/);
    assert.equal(
      refusal('x=1', declared('metadata.name', 'metadata.namespace')).message,
      '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    assert.equal(refusal('constructor=1').message, 'field label not supported: constructor');
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('=', '!='), (value, operator) => {
        const selector = compileFieldSelector([{ key: 'status.phase', operator, value }], FIELDS, '');
        assert.deepEqual(parseFieldSelector(selector.toString()), [{ key: 'status.phase', operator, value }]);
      }),
    );
  });
});
