import assert from 'node:assert/strict';
import { textSelectors } from './selectors.js';

const read = (field: string, label: string): unknown => {
  const selectors = textSelectors(field, label);
  return selectors === undefined ? undefined : { fields: selectors.fields, labels: selectors.labels };
};

describe('textSelectors()', () => {
  it('are none without a text', () => assert.equal(textSelectors('', ''), undefined));

  it('reads fields', () => {
    assert.deepEqual(read('spec.nodeName=n,status.phase!=Failed,a==b', ''), {
      fields: [
        { key: 'a', operator: 'In', values: ['b'] },
        { key: 'spec.nodeName', operator: 'In', values: ['n'] },
        { key: 'status.phase', operator: 'NotIn', values: ['Failed'] },
      ],
      labels: [],
    });
  });

  it('reads labels, and leaves comparisons of numbers out', () => {
    assert.deepEqual(read('', 'b in (z,y),a=1,!d,e,f>5,g<6,c notin (x),h!=2'), {
      fields: [],
      labels: [
        { key: 'a', operator: 'In', values: ['1'] },
        { key: 'b', operator: 'In', values: ['y', 'z'] },
        { key: 'c', operator: 'NotIn', values: ['x'] },
        { key: 'd', operator: 'DoesNotExist' },
        { key: 'e', operator: 'Exists' },
        { key: 'h', operator: 'NotIn', values: ['2'] },
      ],
    });
  });

  it('leaves out what cannot be read, and keeps the other', () => {
    const a = [{ key: 'a', operator: 'In', values: ['b'] }];
    assert.deepEqual(read('a=b', 'a b'), { fields: a, labels: [] });
    assert.deepEqual(read('a', 'a=b'), { fields: [], labels: a });
  });
});
