import assert from 'node:assert/strict';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { judge, merged, type Condition } from './conditions.js';
import type { Definition } from './definition.js';
import { takenNames } from './names.js';

const words = vocabulary('kubernetes');
const definition = (
  group: string,
  annotations?: Record<string, string>,
  conditions: readonly Condition[] = [],
): Definition =>
  ({
    metadata: { name: `cars.${group}`, ...(annotations === undefined ? {} : { annotations }) },
    spec: { group, names: { plural: 'cars', kind: 'Car' } },
    status: { conditions },
  }) as unknown as Definition;

const verdict = (of: Definition, problems = '', taken = takenNames([])) =>
  judge(of, taken, { vocabulary: words, schemaProblems: () => problems }).conditions;

describe('judge()', () => {
  it('establishes a definition whose names are its own', () => {
    const conditions = verdict(definition('a.b'));
    assert.equal(conditions.get('NamesAccepted')?.status, 'True');
    assert.equal(conditions.get('Established')?.reason, 'InitialNamesAccepted');
    assert.equal(conditions.get('NonStructuralSchema'), undefined);
  });

  it('does not establish one whose names are not, and leaves one that is', () => {
    const taken = takenNames([{ kind: 'Car' }]);
    const conditions = verdict(definition('a.b'), '', taken);
    assert.deepEqual(
      [conditions.get('NamesAccepted')?.reason, conditions.get('Established')?.reason],
      ['KindConflict', 'NotAccepted'],
    );
    const established = definition('a.b', undefined, [{ type: 'Established', status: 'True' }]);
    assert.ok(!verdict(established, '', taken).has('Established'));
  });

  it('tells what is wrong with schemas from before that was asked', () => {
    assert.deepEqual(verdict(definition('a.b'), 'spec: x').get('NonStructuralSchema'), {
      type: 'NonStructuralSchema',
      status: 'True',
      reason: 'Violations',
      message: 'spec: x',
    });
  });

  const approvals: readonly (readonly [value: string | undefined, status: string, reason: string])[] = [
    [undefined, 'False', 'MissingAnnotation'],
    ['https://example.com/x', 'True', 'ApprovedAnnotation'],
    ['unapproved, for now', 'False', 'UnapprovedAnnotation'],
    ['because', 'False', 'InvalidAnnotation'],
    ['/path', 'False', 'InvalidAnnotation'],
  ];
  for (const [value, status, reason] of approvals) {
    it(`says of a group of the product's own, approved by ${value ?? 'nobody'}: ${reason}`, () => {
      const annotations = value === undefined ? undefined : { 'api-approved.kubernetes.io': value };
      const condition = verdict(definition('x.k8s.io', annotations)).get(words.policyConformantCondition);
      assert.deepEqual([condition?.status, condition?.reason], [status, reason]);
      assert.ok(!verdict(definition('notk8s.io', annotations)).has(words.policyConformantCondition));
    });
  }
});

describe('merged()', () => {
  const old: Condition = {
    type: 'A',
    status: 'True',
    reason: 'x',
    message: 'y',
    lastTransitionTime: '2020-01-01T00:00:00Z',
  };
  const after = (next: Condition | undefined) => merged(definition('a.b', undefined, [old]), new Map([['A', next]]));

  it('keeps the time of a condition that stays what it is', () => {
    assert.deepEqual(after({ type: 'A', status: 'True', reason: 'z', message: 'y' }), [{ ...old, reason: 'z' }]);
  });

  it('gives one that changes, and one that is new, the present time', () => {
    const [changed] = after({ type: 'A', status: 'False' });
    assert.notEqual(changed?.lastTransitionTime, old.lastTransitionTime);
    const [kept, added] = merged(definition('a.b', undefined, [old]), new Map([['B', { type: 'B', status: 'True' }]]));
    assert.deepEqual(kept, old);
    assert.ok((added?.lastTransitionTime ?? '') > '2024');
  });

  it('takes away one that is over', () => assert.deepEqual(after(undefined), []));
});
