import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { booleanParameter, integerParameter } from './query.js';

describe('booleanParameter()', () => {
  const read = (query: string): boolean => booleanParameter(new URLSearchParams(query), 'flag');

  for (const query of [
    '',
    'other=1',
    'flag=0',
    'flag=false',
    'flag=False',
    'flag=FALSE',
    'flag=fAlSe',
    'flag=0&flag=1',
  ])
    it(`is false for ${JSON.stringify(query)}`, () => assert.equal(read(query), false));

  for (const query of [
    ...['flag', 'flag=', 'flag=1', 'flag=true', 'flag=t', 'flag=f', 'flag=no', 'flag=off', 'flag=00', 'flag=0.0'],
    ...['flag=false%20', 'flag=-1', 'flag=garbage', 'flag=1&flag=0'],
  ])
    it(`is true for ${JSON.stringify(query)}`, () => assert.equal(read(query), true));
});

describe('integerParameter()', () => {
  const read = (value: string): number | undefined => integerParameter(new URLSearchParams({ limit: value }), 'limit');

  it('is undefined when absent or empty', () => {
    assert.equal(integerParameter(new URLSearchParams(), 'limit'), undefined);
    assert.equal(read(''), undefined);
  });

  for (const [value, expected] of [
    ['0', 0],
    ['-1', -1],
    ['+5', 5],
    ['007', 7],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', Number.MAX_SAFE_INTEGER],
    ['9223372036854775807', Number.MAX_SAFE_INTEGER],
    ['-9007199254740992', -Number.MAX_SAFE_INTEGER],
    ['-9223372036854775808', -Number.MAX_SAFE_INTEGER],
  ] as const)
    it(`reads ${value} as ${expected}`, () => assert.equal(read(value), expected));

  for (const value of ['9223372036854775808', '-9223372036854775809', '1.0', '1e3', '0x10', ' 1', 'abc', '--1', '1n'])
    it(`refuses ${JSON.stringify(value)}, naming it`, () =>
      assert.throws(
        () => read(value),
        (err: Error) => hasReason(err, 'BadRequest') && err.message.includes(`limit: ${JSON.stringify(value)} is `),
      ));
});
