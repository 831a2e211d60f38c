import assert from 'node:assert/strict';
import { FlagError } from '../../machinery/flags/flags.js';
import { chosen } from './choose.js';

const ENTRIES = [
  { name: 'one', isOnByDefault: true },
  { name: 'two', isOnByDefault: true },
  { name: 'rare', isOnByDefault: false },
];
const names = (...words: string[]): string => chosen(words, ENTRIES).map(({ name }) => name).join(' '); // prettier-ignore

describe('chosen()', () => {
  for (const [words, expected] of [
    ['*', 'one two'],
    ['*,rare', 'one two rare'],
    ['rare', 'rare'],
    ['two,one', 'one two'],
    ['*,-two', 'one'],
    ['-two,*', 'one'],
    ['two,-two', ''],
    ['-*', ''],
    ['*,-*', ''],
    ['-*,rare', 'rare'],
    ['-one', ''],
  ] as const)
    it(`takes ${words} for ${expected || 'none'}`, () => assert.equal(names(...words.split(',')), expected));

  it('takes no words for none', () => assert.equal(names(), ''));

  for (const word of ['three', '-three', '', '-'])
    it(`refuses "${word}"`, () => assert.throws(() => names('*', word), FlagError));
});
