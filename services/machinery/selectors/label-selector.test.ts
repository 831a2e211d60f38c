import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StatusError } from '../meta/status.js';
import { labelSelectorOf, parseLabelSelector } from './label-selector.js';

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (err) {
    assert.ok(err instanceof StatusError);
    assert.equal(err.code, 400);
    return err.message;
  }
  throw new Error('was not refused');
};
const refusalOf = (text: string): string => refusal(() => parseLabelSelector(text));

const MATCHES: readonly (readonly [selector: string, labels: Record<string, string> | undefined, is: boolean])[] = [
  ['', undefined, true],
  ['   ', undefined, true],
  ['a=b', { a: 'b' }, true],
  ['a==b', { a: 'b' }, true],
  [' a = b ', { a: 'b' }, true],
  ['a=b', { a: 'c' }, false],
  ['a=b', undefined, false],
  ['a=', { a: '' }, true],
  ['a=', {}, false],
  ['a!=b', { a: 'b' }, false],
  ['a!=b', { a: 'c' }, true],
  ['a!=b', undefined, true],
  ['a in (b,c)', { a: 'c' }, true],
  ['a in (b,c)', { a: 'd' }, false],
  ['a in ( b , c )', { a: 'b' }, true],
  ['a in (b,)', { a: '' }, true],
  ['a in (,b)', { a: '' }, true],
  ['a in (b)', {}, false],
  ['a notin (b,c)', { a: 'c' }, false],
  ['a notin (b,c)', {}, true],
  ['a', { a: '' }, true],
  ['a', {}, false],
  ['!a', {}, true],
  ['! a', { a: 'x' }, false],
  ['a>1', { a: '2' }, true],
  ['a>1', { a: '1' }, false],
  ['a>1', { a: 'x' }, false],
  ['a>9007199254740992', { a: '9007199254740993' }, true],
  ['a<1', { a: '0' }, true],
  ['a<1', {}, false],
  ['a=b,c=d', { a: 'b', c: 'd' }, true],
  ['a=b,c=d', { a: 'b' }, false],
  ['x.io/a=b', { 'x.io/a': 'b' }, true],
  ['in=notin', { in: 'notin' }, true],
  ['in in (in)', { in: 'in' }, true],
  ['constructor', {}, false],
  ['!constructor', {}, true],
  ['constructor=x', { constructor: 'x' }, true],
  ['toString notin (x)', {}, true],
];

describe('parseLabelSelector()', () => {
  for (const [selector, labels, is] of MATCHES) {
    it(`${JSON.stringify(selector)} ${is ? 'selects' : 'leaves'} ${JSON.stringify(labels)}`, () => {
      assert.equal(parseLabelSelector(selector).matches(labels), is);
    });
  }

  it('tells whether it selects everything', () => {
    assert.equal(parseLabelSelector(' ').empty, true);
    assert.equal(parseLabelSelector('a').empty, false);
  });

  it('gives one text for selectors that ask the same', () => {
    const text = 'a=1,b in (x,y),c!=2,!d,e';
    for (const other of ['e,!d,c notin (2),b in (y,x,y),a==1', 'a in (1),a=1,  b in (x,y), e ,!d,c!=2']) {
      assert.equal(parseLabelSelector(other).toString(), text);
    }
    assert.equal(parseLabelSelector(text).toString(), text);
  });

  const refusals: Readonly<Record<string, string>> = {
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'a=b c': "found 'c', expected: ',' or 'end of string'",
    'a=b,': "found '', expected: identifier after ','",
    '=a': "found '=', expected: !, identifier, or 'end of string'",
    'a in b': "unable to parse requirement: found 'b', expected: '('",
    'a in (b': "unable to parse requirement: found '', expected: ',' or ')'",
    '!': "unable to parse requirement: found '', expected: identifier",
    '!a=b': "found '=', expected: ',' or 'end of string'",
    'a==(b)': "unable to parse requirement: found '(', expected: identifier",
    'a in ()':
      "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    'a>x':
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  };
  for (const [text, message] of Object.entries(refusals)) {
    it(`refuses ${text}`, () => assert.equal(refusalOf(text), message));
  }

  it('refuses keys and values that no label can have', () => {
    assert.match(
      refusalOf('a/b/c=d'),
      /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a qualified name must/,
    );
    assert.match(
      refusalOf('a=b/c'),
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b\/c": a valid label/,
    );
    assert.match(refusalOf('__proto__=x'), /name part must consist/);
    assert.match(refusalOf('a=\u2028'), /a valid label/);
  });

  it('refuses selectors that are too long, with a short message', () => {
    assert.match(refusalOf('a,'.repeat(40_000)), /at most 65536 characters/);
    assert.match(refusalOf(Array.from({ length: 1001 }, (_, i) => `a${i}`).join(',')), /at most 1000 requirements/);
    assert.ok(refusalOf('-'.repeat(60_000)).length < 1000);
  });

  it('takes or refuses whatever comes, and reads back what it writes', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      'in',
      'notin',
      '=',
      '==',
      '!=',
      '!',
      '(',
      ')',
      ',',
      '>',
      '<',
      ' ',
      '1',
      '/',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        let text: string;
        try {
          text = parseLabelSelector(pieces.join('')).toString();
        } catch (err) {
          assert.ok(err instanceof StatusError);
          return;
        }
        assert.equal(parseLabelSelector(text).toString(), text);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('labelSelectorOf()', () => {
  it('selects nothing when absent and everything when empty', () => {
    assert.equal(labelSelectorOf(undefined).matches({}), false);
    assert.equal(labelSelectorOf({}).matches({}), true);
  });

  it('is the same as its text form', () => {
    const object = {
      matchLabels: { a: 'b' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['d', 'e'] },
        { key: 'f', operator: 'NotIn', values: ['g', 'h'] },
        { key: 'i', operator: 'Exists' },
        { key: 'j', operator: 'DoesNotExist' },
      ],
    };
    assert.equal(labelSelectorOf(object).toString(), 'a=b,c in (d,e),f notin (g,h),i,!j');
  });

  it('refuses operators and values that do not go together', () => {
    const of = (operator: string, values?: string[]): string =>
      refusal(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator, ...(values && { values }) }] }));
    assert.equal(of('Like', ['x']), '"Like" is not a valid label selector operator');
    assert.match(of('In'), /values set can't be empty/);
    assert.match(of('Exists', ['x']), /values set must be empty/);
  });
});
