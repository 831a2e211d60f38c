import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { conformanceCases, referenceCases, type Placed } from './testing/conformance-cases.js';
import { CelSyntaxError } from './lexer.js';
import { parse } from './parse.js';
import { evaluated, wrongWith } from './testing/try-case.js';

const MESSAGES =
  /TestAllTypes|TestRequired|GlobalEnum|NestedEnum|NullValue|\w+Value\{|\bproto\.|cel\.expr|google\.protobuf\.(?!(?:Timestamp|Duration)\b)/;
const MESSAGE_TYPES = /messageType|enumValue|"wrapper"/;

const inFile =
  (...files: readonly string[]) =>
  ({ file }: Placed) =>
    files.includes(file);
const inSection =
  (...places: readonly string[]) =>
  ({ file, section }: Placed) =>
    places.includes(`${file}/${section}`);
const called =
  (...places: readonly string[]) =>
  ({ file, it }: Placed) =>
    places.includes(`${file}/${it.name}`);

/** What the language of resource rules has not, and how a case tells that it is about that. */
const ABSENT: Readonly<Record<string, (placed: Placed) => boolean>> = {
  'messages, enumerations and wrappers of Protobuf': (placed) =>
    inFile('enums', 'proto2', 'proto2_ext', 'proto3', 'wrappers', 'dynamic')(placed) ||
    MESSAGES.test(placed.it.expr) ||
    MESSAGE_TYPES.test(JSON.stringify([placed.it.typeEnv, placed.it.value, placed.it.typedResult])),
  'values bound by an optimizer': inFile('block_ext'),
  'functions that a test declares': ({ it }) => (it.typeEnv ?? []).some((declared) => declared.function !== undefined),
  'containers of names': inSection('namespace/namespace'),
  'names that nothing declares, found out at run time': (placed) =>
    inSection('parse/receiver_function_names')(placed) || called('basic/unbound_is_runtime_error')(placed),
};

/** How many cases of each file run, and how many do not: what is not tried is not to grow in silence. */
const COUNTS: Readonly<Record<string, readonly [run: number, absent: number]>> = {
  basic: [41, 2],
  bindings_ext: [5, 0],
  block_ext: [0, 37],
  comparisons: [334, 72],
  conversions: [109, 0],
  dynamic: [0, 226],
  encoders_ext: [4, 0],
  enums: [0, 85],
  fields: [60, 0],
  fp_math: [30, 0],
  integer_math: [64, 0],
  lists: [39, 0],
  logic: [30, 0],
  macros: [44, 0],
  macros2: [46, 0],
  math_ext: [199, 0],
  namespace: [1, 2],
  optionals: [59, 11],
  parse: [176, 43],
  plumbing: [5, 0],
  proto2: [0, 108],
  proto2_ext: [0, 18],
  proto3: [0, 75],
  string: [51, 0],
  string_ext: [206, 3],
  timestamps: [75, 1],
  type_deductions: [21, 26],
  wrappers: [0, 36],
};

const isAbsent = (placed: Placed): boolean => Object.values(ABSENT).some((is) => is(placed));

describe('the conformance cases of the language', () => {
  const all = conformanceCases();
  const byFile = new Map(Object.keys(COUNTS).map((name) => [name, all.filter(({ file }) => file === name)]));

  it('are all in a file that is known', () => {
    assert.equal(
      [...byFile.values()].reduce((sum, cases) => sum + cases.length, 0),
      all.length,
    );
    for (const [why, is] of Object.entries(ABSENT)) assert.ok(all.some(is), `nothing is about ${why}`);
  });

  for (const [name, cases] of byFile) {
    it(`${name}: hold`, () => {
      const tried = cases.filter((placed) => !isAbsent(placed));
      const wrong = tried.flatMap(({ section, it: one }) => {
        const why = wrongWith(one);
        return why === undefined ? [] : [`${section}/${one.name}: ${one.expr}: ${why}`];
      });
      assert.deepEqual(wrong, []);
      assert.deepEqual([tried.length, cases.length - tried.length], COUNTS[name]);
    });
  }

  it('of loops with two variables hold', () => {
    // What `m` is, the data does not say; nor that those from the first wrong one on are wrong, to the last of them.
    const cases = referenceCases('comprehension')
      .slice(0, 76)
      .map(({ expr }) => expr);
    const firstWrong = cases.indexOf('[].all(i, i, i < i)');
    const tried = cases.flatMap((expr, i) => (/\bm\./.test(expr) ? [] : [{ expr, isRight: i < firstWrong }]));
    const wrong = tried.filter(({ expr, isRight }) => {
      const outcome = evaluated(expr, new Map(), {});
      return isRight ? !('value' in outcome && outcome.value === true) : 'value' in outcome;
    });
    assert.deepEqual(wrong, []);
    assert.equal(tried.length, 71);
  });

  it('of texts that are expressions, and of those that are none, hold', () => {
    const tried = referenceCases('parsing').filter(
      ({ expr, error = '' }) => !OTHER_PARSER.test(error) && !/\w\{ ?[\w}]/.test(expr),
    );
    const wrong = tried.filter(({ expr, error }) => isExpression(expr) !== isAccepted(error)).map(({ expr }) => expr);
    assert.deepEqual(wrong, []);
    assert.equal(tried.length, 157);
  });
});

/** Bounds of that parser, which are smaller, and syntax that it was not told to read. Messages are not ours. */
const OTHER_PARSER = /recursion|lookahead limit|unsupported syntax/;

/** What is wrong with types and names is found out later, and told with the name of the input. */
const isAccepted = (error: string | undefined): boolean => error === undefined || error.startsWith('ERROR: <input>');

function isExpression(source: string): boolean {
  try {
    parse(source);
    return true;
  } catch (err) {
    assert.ok(err instanceof CelSyntaxError);
    return false;
  }
}
