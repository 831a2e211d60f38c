import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import { BlockYaml, IndentedJson, printed, type Printer } from './print.js';

const WAITING = { signal: new AbortController().signal };
const text = async (pieces: readonly (Buffer | string)[], printer: Printer): Promise<string> =>
  Buffer.concat(
    await printed(
      WAITING,
      pieces.map((piece) => Buffer.from(piece)),
      printer,
    ),
  ).toString('utf8');
const jsonOf = (value: unknown): Promise<string> => text([JSON.stringify(value)], new IndentedJson());
const yamlOf = (value: unknown): Promise<string> => text([JSON.stringify(value)], new BlockYaml());
const nested = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => ({ a: [inner] }), {});

describe('IndentedJson', () => {
  it('prints what JSON.stringify() prints with an indent of two', () =>
    fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        assert.equal(await jsonOf(value), JSON.stringify(value, null, 2));
      }),
    ));

  it('takes strings with escapes and brackets as they are', async () => {
    const value = { 'a"b\\': ['\\', '\\"', '{[,:]}', ''], '': { '\n': -1.5e300 } };
    assert.equal(await jsonOf(value), JSON.stringify(value, null, 2));
  });

  it('takes no notice of spaces, and of where one piece ends', async () => {
    assert.equal(
      await text(['{"items" : [', '{ }', ',{"a":\n[ ]}', ']', '}'], new IndentedJson()),
      JSON.stringify({ items: [{}, { a: [] }] }, null, 2),
    );
  });

  it('does not indent without end', async () => {
    const printed = await jsonOf(nested(400));
    assert.deepEqual(JSON.parse(printed), nested(400));
    assert.ok(printed.length < 250_000, String(printed.length));
  });

  it('gives out long texts in parts', () => {
    const source = Buffer.from(JSON.stringify(Array.from({ length: 50_000 }, (_, i) => i)));
    const parts = [...new IndentedJson().print(source)];
    assert.ok(parts.length > 10);
    assert.ok(parts.every((part) => part.length < 40_000));
  });
});

describe('BlockYaml', () => {
  it('prints what reads as the same value', () =>
    fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
        for (const version of ['1.1', '1.2'] as const) {
          assert.deepEqual(parse(await yamlOf(value), { version }), JSON.parse(JSON.stringify(value)));
        }
      }),
    ));

  it('prints objects in block style', async () => {
    const value = {
      apiVersion: 'v1',
      items: [
        { metadata: { name: 'a', labels: {}, list: [[1, [2]], [], {}] } },
        'text',
        { f: { 'f:a': {}, '.': null } },
      ],
      data: {
        time: '2026-11-22T06:54:57Z',
        port: '80',
        spaced: 'two words',
        colon: 'a: b',
        note: 'a #b',
        lines: 'a\nb',
      },
    };
    assert.equal(
      await yamlOf(value),
      `apiVersion: v1
items:
- metadata:
    name: a
    labels: {}
    list:
    - - 1
      - - 2
    - []
    - {}
- text
- f:
    f:a: {}
    ".": null
data:
  time: "2026-11-22T06:54:57Z"
  port: "80"
  spaced: two words
  colon: "a: b"
  note: "a #b"
  lines: "a\\nb"
`,
    );
  });

  const TRAPS = ['', 'true', 'No', 'on', 'y', 'null', '~', '1', '0x1f', '.5', '.inf', '-', '- a', 'a:', 'a: b', 'a #', '!a', '&a', '*a', '%a', '@a', '`a', '{a', '[a', '? a', '<<', '=', 'a ', ' a', 'a\tb', '\u2028', '\x85', '\x7f', '\ufeff', 'é', '😀', 'a,b', "it's", '1:30', 'a:1', 'x: ', 'e1', '---', '...']; // prettier-ignore
  it('quotes what would read as something else', async () => {
    for (const version of ['1.1', '1.2'] as const) {
      for (const trap of TRAPS) {
        const value = { [trap]: trap, list: [trap], deep: [{ [trap]: [trap] }] };
        assert.deepEqual(parse(await yamlOf(value), { version }), value, JSON.stringify(trap));
      }
    }
  });

  it('announces a long name, and prints values without a name', async () => {
    const value = { ['k'.repeat(2_000)]: { ['l'.repeat(2_000)]: [1] } };
    assert.deepEqual(parse(await yamlOf(value)), value);
    assert.equal(await yamlOf('x'), 'x\n');
    assert.equal(await yamlOf([]), '[]\n');
  });

  it('does not indent without end', async () => {
    const printed = await yamlOf(nested(200));
    assert.deepEqual(parse(printed), nested(200));
    assert.ok(printed.length < 20_000, String(printed.length));
  });
});

describe('printed()', () => {
  it('stops when the asker has left', async () => {
    const left = new AbortController();
    const piece = Buffer.from(JSON.stringify(Array.from({ length: 200_000 }, (_, i) => i)));
    setImmediate(() => left.abort(new Error('left')));
    await assert.rejects(
      printed(
        left,
        Array.from({ length: 500 }, () => piece),
        new IndentedJson(),
      ),
      /left/,
    );
  });
});
