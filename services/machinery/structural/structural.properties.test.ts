import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Trail } from '../schema/trail.js';
import { CustomReader } from './custom-reader.js';
import { fillDefaults } from './fill-defaults.js';
import { readSchema } from './read-schema.js';
import * as arbitrary from './testing/arbitrary-schemas.js';
import { defaulted, isValid, pruned, type Schema } from './testing/slow-reference.js';
import { validate } from './validate.js';

const RUNS = 300;
const ANY = { decode: (value: unknown) => value, isZero: () => false, zero: () => null, type: 'any' };
const read = (schema: Schema) => readSchema(schema, (name) => `x-platform-${name}`);
const object = arbitrary.value.map((value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { a: value },
);
/** Identity is decoded as that of every object, which is not what is asked here. */
const withoutNullIdentity = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNullIdentity);
  if (typeof value !== 'object' || value === null) return value;
  return arbitrary.objectOf(
    Object.entries(value)
      .filter(([name, member]) => member !== null || !['apiVersion', 'kind', 'metadata'].includes(name))
      .map(([name, member]) => [name, withoutNullIdentity(member)]),
  );
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** `schema` is that of whole objects: an object, whatever else is said. */
const asRoot = (schema: Schema): Schema => ({ ...schema, type: 'object' });

function copied(
  value: Record<string, unknown>,
  schema: Schema,
): { readonly value: unknown; readonly dropped: readonly string[] } {
  const trail = new Trail(1_000);
  return { value: new CustomReader(trail, ANY).root(value, read(schema)), dropped: trail.unknown };
}

describe('structural schemas, beside a slow reference', () => {
  it('prune what it prunes, and tell of each member that goes', () => {
    fc.assert(
      fc.property(object.map(withoutNullIdentity), arbitrary.schema.map(asRoot), (value, schema) => {
        const found = copied(value as Record<string, unknown>, schema);
        const wanted = pruned(value, schema, true);
        assert.deepEqual(plain(found.value), plain(wanted));
        assert.equal(found.dropped.length > 0, JSON.stringify(sorted(value)) !== JSON.stringify(sorted(wanted)));
      }),
      { numRuns: RUNS },
    );
  });

  it('leave what they have pruned as it is', () => {
    fc.assert(
      fc.property(object.map(withoutNullIdentity), arbitrary.schema.map(asRoot), (value, schema) => {
        const once = copied(value as Record<string, unknown>, schema).value as Record<string, unknown>;
        const twice = copied(once, schema);
        assert.equal(JSON.stringify(twice.value), JSON.stringify(once));
        assert.deepEqual(twice.dropped, []);
      }),
      { numRuns: RUNS },
    );
  });

  it('fill in the defaults that it fills in', () => {
    fc.assert(
      fc.property(object, arbitrary.schema.map(asRoot), (value, schema) => {
        const filled = structuredClone(value);
        fillDefaults(filled, read(schema));
        assert.deepEqual(plain(filled), plain(defaulted(value, schema)));
        const inOrder = sorted(value) as Record<string, unknown>;
        fillDefaults(inOrder, read(schema));
        assert.equal(JSON.stringify(inOrder), JSON.stringify(sorted(inOrder)));
      }),
      { numRuns: RUNS },
    );
  });

  it('find right and wrong what it finds right and wrong', () => {
    fc.assert(
      fc.property(arbitrary.value, arbitrary.schema, (value, schema) => {
        assert.equal(validate(value, read(schema)).length === 0, isValid(value, schema));
      }),
      { numRuns: 2 * RUNS },
    );
  });

  it('break no rule where nothing has changed, and only where they would be broken anyway', () => {
    fc.assert(
      fc.property(object, object, arbitrary.schema, (value, before, schema) => {
        assert.deepEqual(validate(value, read(schema), structuredClone(value)), []);
        const problems = validate(value, read(schema));
        assert.ok(validate(value, read(schema), before).length <= problems.length);
      }),
      { numRuns: RUNS },
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return arbitrary.objectOf(members.map(([name, member]) => [name, sorted(member)]));
}
