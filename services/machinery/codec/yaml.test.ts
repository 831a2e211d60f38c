import assert from 'node:assert/strict';
import { StatusError } from '../meta/status.js';
import { BODY_LIMITS } from './json.js';
import { parseYaml } from './yaml.js';

const parse = async (text: string): Promise<unknown> => parseYaml(Buffer.from(text));
const refusal = async (text: string): Promise<StatusError> => {
  const err = await parse(text).then(
    () => new Error('was not refused'),
    (e: unknown) => e,
  );
  assert.ok(err instanceof StatusError, String(err));
  return err;
};

describe('parseYaml()', () => {
  it('reads a manifest', async () => {
    const text = 'kind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: "1"}\ndata:\n  n: |\n    line\n';
    assert.deepEqual(await parse(text), {
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: { x: '1' } },
      data: { n: 'line\n' },
    });
  });

  it('takes a body that is JSON as JSON, up to the bound for JSON', async () => {
    const text = JSON.stringify({ a: 'x'.repeat(BODY_LIMITS.maxYamlBytes) });
    assert.deepEqual(await parse(text), JSON.parse(text));
  });

  it('reads flow style that is no JSON', async () => {
    assert.deepEqual(await parse('{a: [1, two]}'), { a: [1, 'two'] });
  });

  it('follows the core schema: yes is text, a date is text, keys become text', async () => {
    assert.deepEqual(await parse('a: yes\nb: 2020-01-01\n1: c\n'), { a: 'yes', b: '2020-01-01', 1: 'c' });
  });

  it('follows aliases', async () => {
    assert.deepEqual(await parse('a: &x {n: 1}\nb: *x\n'), { a: { n: 1 }, b: { n: 1 } });
  });

  it('keeps a key named __proto__ as data', async () => {
    const value = await parse('__proto__: {x: 1}\n');
    assert.deepEqual(Object.keys(value as object), ['__proto__']);
    assert.equal((value as { x?: number }).x, undefined);
  });

  it('refuses documents that grow by aliases', async () => {
    const rows = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let i = 1; i < 9; i++)
      rows.push(
        `a${i}: &a${i} [${Array<string>(9)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
      );
    assert.match((await refusal(rows.join('\n'))).message, /aliases|values/);
  });

  it('refuses an alias inside its own anchor', async () => {
    assert.equal((await refusal('a: &x [*x]\n')).code, 400);
  });

  it('refuses duplicate keys', async () => {
    assert.match((await refusal('a: 1\na: 2\n')).message, /key "a" already set in map/);
  });

  for (const text of ['a: [{b: 1}, {b: 2, b: 3, b: 4}]\nc: 1\nc: 2\n', '{"a":[{"b":1},{"b":3,"b":4}],"c":1,"c":2}']) {
    it(`tells who asks of the duplicate keys in ${JSON.stringify(text)}`, async () => {
      const duplicates: string[] = [];
      const value = await parseYaml(Buffer.from(text), BODY_LIMITS, duplicates);
      assert.deepEqual(duplicates, ['a[1].b', 'c']);
      assert.deepEqual(value, { a: [{ b: 1 }, { b: 4 }], c: 2 });
    });
  }

  for (const text of ['a: !!binary aGk=', 'a: !mine x', 'a: .nan', '? [a]\n: b', 'a: *x', '--- 1\n--- 2', 'a: [']) {
    it(`refuses ${JSON.stringify(text)}`, async () => {
      assert.equal((await refusal(text)).code, 400);
    });
  }

  it('refuses what nests too deep, however it is written', async () => {
    assert.match((await refusal('[\n'.repeat(1200) + ']'.repeat(1200))).message, /depth|exceeded/);
    assert.match((await refusal('- '.repeat(20_000) + 'x')).message, /exceeded max depth/);
  });

  it('refuses a body over the bound for YAML with 413', async () => {
    assert.equal((await refusal(`a: ${'x'.repeat(BODY_LIMITS.maxYamlBytes)}`)).code, 413);
  });
});
