import assert from 'node:assert/strict';
import { canonicalTime } from './scalars.js';

describe('canonicalTime()', () => {
  it('takes UTC as it is and moves other zones to it', () => {
    assert.equal(canonicalTime('2024-02-29T23:59:59Z', 'second'), '2024-02-29T23:59:59Z');
    assert.equal(canonicalTime('2024-01-01T00:30:00+01:00', 'second'), '2023-12-31T23:30:00Z');
    assert.equal(canonicalTime('0050-01-01T00:00:00-02:00', 'second'), '0050-01-01T02:00:00Z');
  });

  it('cuts fractions to the unit', () => {
    assert.equal(canonicalTime('2024-01-01T00:00:00.999999999Z', 'second'), '2024-01-01T00:00:00Z');
    assert.equal(canonicalTime('2024-01-01T00:00:00,5+00:00', 'second'), '2024-01-01T00:00:00Z');
  });

  it('keeps microseconds', () => {
    assert.equal(canonicalTime('2024-01-01T00:00:00.000000Z', 'microsecond'), '2024-01-01T00:00:00.000000Z');
    assert.equal(canonicalTime('2024-01-01T01:00:00.123456+01:00', 'microsecond'), '2024-01-01T00:00:00.123456Z');
    assert.equal(canonicalTime('2024-01-01T00:00:00,123456Z', 'microsecond'), '2024-01-01T00:00:00.123456Z');
  });

  for (const fraction of ['', '.0', '.12345', '.1234567', '.123456000']) {
    it(`refuses microseconds with the fraction ${JSON.stringify(fraction)}`, () => {
      assert.equal(canonicalTime(`2024-01-01T00:00:00${fraction}Z`, 'microsecond'), undefined);
      assert.equal(canonicalTime(`0001-01-01T00:00:00${fraction}Z`, 'microsecond'), undefined);
    });
  }

  it('gives null for the zero time', () => {
    assert.equal(canonicalTime('0001-01-01T00:00:00Z', 'second'), null);
    assert.equal(canonicalTime('0001-01-01T00:00:00.000000Z', 'microsecond'), null);
    assert.equal(canonicalTime('0001-01-01T00:00:00.000001Z', 'microsecond'), '0001-01-01T00:00:00.000001Z');
  });

  for (const text of [
    '',
    '2024-01-01',
    '2024-01-01 00:00:00Z',
    '2024-01-01T00:00:00',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '0000-01-01T00:00:00+01:00',
    '2024-01-01T00:00:00+99:00',
    '10000-01-01T00:00:00Z',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(canonicalTime(text, 'second'), undefined));
  }
});
