import assert from 'node:assert/strict';
import type { Context } from '../request/request.js';
import { addWarnings } from './warnings.js';

/** The headers after all calls. */
function headers(...calls: readonly (readonly string[])[]): readonly string[] {
  let header: readonly string[] | undefined;
  const res = { getHeader: () => header, setHeader: (_: string, value: readonly string[]) => void (header = value) };
  for (const texts of calls) addWarnings({ res } as unknown as Context, texts); // all that it looks at
  return header ?? [];
}

describe('addWarnings()', () => {
  it('adds a header for each text, each once', () => {
    assert.deepEqual(headers(['a', 'b'], ['b', 'c']), ['299 - "a"', '299 - "b"', '299 - "c"']);
    assert.deepEqual(headers([]), []);
  });

  it('lets nothing but printable ASCII through', () => {
    assert.deepEqual(headers(['say "\\" \r\né']), ['299 - "say \\"\\\\\\" ???"']);
  });

  it('tells long texts whole, as long as there is room', () => {
    const long = 'x'.repeat(3000);
    const lengths = headers([long], ['y'.repeat(3000)], ['z'.repeat(3000)]).map(
      (one) => one.length - '299 - ""'.length,
    );
    assert.deepEqual(lengths, [3000, 4096 - 3008, 256]);
  });

  it('tells twenty', () => {
    assert.equal(headers(Array.from({ length: 30 }, (_, i) => `w${i}`)).length, 20);
  });
});
