import assert from 'node:assert/strict';
import { checkSelectors, readSelectors, type GivenSelector, type GivenSelectors } from './selectors.js';

const AT = 'spec.resourceAttributes';

describe('checkSelectors()', () => {
  const refusals = (given: GivenSelectors): string[] =>
    checkSelectors(given).map(({ field, message }) => `${field.replace(`${AT}.`, '')}: ${message}`);

  it('takes none, text, a list, and operators that it does not know', () => {
    for (const given of [
      {},
      { fieldSelector: null, labelSelector: null },
      { fieldSelector: { rawSelector: 'cannot be read' } },
      { fieldSelector: { requirements: [{ key: 'a b', operator: 'In', values: ['x y', ''] }] } },
      { labelSelector: { requirements: [{ key: 'a', operator: 'Near', values: ['x'] }, { key: 'b', operator: 'Exists' }] } }, // prettier-ignore
    ]) {
      assert.deepEqual(refusals(given), [], JSON.stringify(given));
    }
  });

  for (const member of ['fieldSelector', 'labelSelector'] as const) {
    const CASES: readonly (readonly [GivenSelector, readonly string[]])[] = [
      [{}, [`${member}.requirements: Required value: when ${AT}.${member} is specified, requirements or rawSelector is required`]], // prettier-ignore
      [{ rawSelector: '', requirements: [] }, [`${member}.requirements: Required value: when ${AT}.${member} is specified, requirements or rawSelector is required`]], // prettier-ignore
      [
        { rawSelector: 'a', requirements: [{ key: 'a', operator: 'Exists' }] },
        [`${member}.rawSelector: Invalid value: "a": may not specified at the same time as requirements`],
      ],
      [
        { requirements: [{ key: 'a', operator: 'Exists' }, { key: 'a', operator: 'In' }, { key: 'a', operator: 'NotIn', values: [] }] }, // prettier-ignore
        [1, 2].map((i) => `${member}.requirements[${i}].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`), // prettier-ignore
      ],
      [
        { requirements: ['Exists', 'DoesNotExist'].map((operator) => ({ key: 'a', operator, values: ['b'] })) },
        [0, 1].map((i) => `${member}.requirements[${i}].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`), // prettier-ignore
      ],
    ];
    for (const [given, wanted] of CASES) {
      it(`refuses ${member} ${JSON.stringify(given)}`, () => assert.deepEqual(refusals({ [member]: given }), wanted));
    }
  }

  it('refuses fields without a key, and what no label can be', () => {
    assert.deepEqual(refusals({ fieldSelector: { requirements: [{ operator: 'Exists' }] } }), [
      'fieldSelector.requirements[0].key: Required value: must be specified',
    ]);
    const [key = '', value = '', ...others] = refusals({
      labelSelector: { requirements: [{ key: 'a b', operator: 'In', values: ['ok', 'x y'] }] },
    });
    assert.match(key, /^labelSelector\.requirements\[0\]\.key: Invalid value: "a b": .*name part must consist/);
    assert.match(value, /^labelSelector\.requirements\[0\]\.values\[1\]: Invalid value: "x y": a valid label/);
    assert.deepEqual(others, []);
  });
});

describe('readSelectors()', () => {
  it('reads text and lists', () => {
    assert.deepEqual(readSelectors({}), { selectors: undefined, ignored: [] });
    const fields = [{ key: 'a', operator: 'In', values: ['b'] }];
    const labels = [
      { key: 'c', operator: 'NotIn', values: ['e', 'd'] },
      { key: 'f', operator: 'Exists' },
      { key: 'g', operator: 'DoesNotExist' },
    ];
    assert.deepEqual(
      readSelectors({ fieldSelector: { requirements: fields }, labelSelector: { requirements: labels } }),
      {
        selectors: { fields, labels },
        ignored: [],
      },
    );
    assert.deepEqual(readSelectors({ fieldSelector: { rawSelector: 'a=b' }, labelSelector: { rawSelector: 'x>1' } }), {
      selectors: { fields, labels: [] },
      ignored: [],
    });
  });

  it('tells what it leaves out', () => {
    const ignored = (fieldSelector?: GivenSelector, labelSelector?: GivenSelector): readonly string[] =>
      readSelectors({ fieldSelector: fieldSelector ?? null, labelSelector: labelSelector ?? null }).ignored;
    assert.deepEqual(ignored({ rawSelector: 'a' }, { rawSelector: 'a b' }), [
      `${AT}.fieldSelector ignored due to parse error`,
      `${AT}.labelSelector ignored due to parse error`,
    ]);
    const two = [{ key: 'a', operator: 'In', values: ['b', 'c'] }];
    const unknown = [
      { key: 'a', operator: 'Near', values: ['b'] },
      { key: 'c', operator: 'Exists' },
    ];
    assert.deepEqual(ignored({ requirements: two }), [`${AT}.fieldSelector ignored due to parse error`]);
    assert.deepEqual(ignored({ requirements: unknown }), [`${AT}.fieldSelector ignored due to parse error`]);
    assert.deepEqual(ignored(undefined, { requirements: unknown }), [`${AT}.labelSelector partially ignored due to parse error`]); // prettier-ignore
    assert.deepEqual(readSelectors({ labelSelector: { requirements: unknown } }).selectors?.labels, [
      { key: 'c', operator: 'Exists' },
    ]);
  });
});
