import assert from 'node:assert/strict';
import { isSet, isWanted, openPlugins, type Plugin } from './plugins.js';

interface Options {
  readonly file: string;
  readonly files: readonly string[];
  readonly claims: ReadonlyMap<string, string>;
  readonly on: boolean;
  readonly many: number;
}

const NOTHING: Options = { file: '', files: [], claims: new Map(), on: false, many: 0 };

describe('isSet()', () => {
  for (const [key, value] of Object.entries({
    file: 'a',
    files: ['a'],
    claims: new Map([['a', 'b']]),
    on: true,
    many: 1,
  })) {
    it(`tells whether ${key} is there`, () => {
      assert.equal(isSet(NOTHING, key as keyof Options), false);
      assert.equal(isSet({ ...NOTHING, [key]: value }, key as keyof Options), true);
    });
  }
});

describe('openPlugins()', () => {
  const TABLE: readonly Plugin<Options, string, string>[] = [
    { name: 'last', flag: 'file', open: async ({ file }, d) => Promise.resolve(`${d} ${file}`) },
    { name: 'always', open: () => 'always' },
    { name: 'undecided', flag: 'on', open: ({ many }) => (many > 1 ? 'many' : undefined) },
  ];

  it('opens those that the options want, in the order of the table', async () => {
    assert.deepEqual([...(await openPlugins(TABLE, NOTHING, 'd'))], [['always', 'always']]);
    assert.deepEqual(
      [...(await openPlugins(TABLE, { ...NOTHING, file: 'f', on: true }, 'd'))],
      [
        ['last', 'd f'],
        ['always', 'always'],
      ],
    );
    assert.deepEqual(TABLE.map((plugin) => isWanted({ ...NOTHING, on: true }, plugin)), [false, true, true]); // prettier-ignore
  });

  it('refuses two of one name', async () => {
    await assert.rejects(openPlugins([...TABLE, { name: 'always', open: () => 'twice' }], NOTHING, 'd'), /same name/);
  });

  it('fails as the first that cannot be opened', async () => {
    const open = (): never => assert.fail('no file');
    await assert.rejects(openPlugins([{ name: 'broken', open }, ...TABLE], NOTHING, 'd'), /no file/);
  });
});
