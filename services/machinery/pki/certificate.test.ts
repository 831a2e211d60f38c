import assert from 'node:assert/strict';
import { OID, valuesOf } from './certificate.js';
import { constructed, DerProblem, objectId, parseDer, sequence, TAG, encodeDer, type Element } from './der.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const nameOf = (...values: readonly string[]): Element =>
  sequence(
    ...values.map(
      (value) =>
      constructed(TAG.set, [sequence(objectId(OID.organization), parseDer(hex(value))), sequence(objectId(OID.commonName), parseDer(hex('0c 01 61')))]), // prettier-ignore
    ),
  );
const organizations = (...values: readonly string[]): readonly string[] =>
  valuesOf(parseDer(encodeDer(nameOf(...values))), OID.organization);

describe('valuesOf()', () => {
  it('reads every kind of text, in order, also several in one part', () => {
    const texts = ['0c 03 c3a9 7a', '13 02 6162', '16 02 6340', '14 02 e97a', '1e 04 00e9 4e2d', '12 01 37', '0c 00'];
    assert.deepEqual(organizations(...texts), ['éz', 'ab', 'c@', 'éz', 'é中', '7', '']);
  });

  for (const [what, value] of [
    ['broken UTF-8', '0c 02 c3 28'],
    ['half a character', '0c 01 c3'],
    ['a number', '02 01 05'],
    ['a sequence', '30 03 0c 01 61'],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => organizations(value), DerProblem));
  }

  it('refuses what is no name', () => {
    for (const name of ['30 02 30 00', '30 02 31 00 ', '30 04 31 02 30 00', '31 00', '30 05 31 03 02 01 00']) {
      const read = (): unknown => valuesOf(parseDer(hex(name)), OID.commonName);
      if (name === '30 02 31 00 ') assert.deepEqual(read(), []);
      else assert.throws(read, DerProblem, name);
    }
  });
});
