import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenFile } from './token-file.js';
import type { TokenAuthenticator } from './authenticator.js';

describe('tokenFile()', () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-file-'));
  const ends = new AbortController();
  after(() => {
    ends.abort();
    rmSync(dir, { recursive: true });
  });
  const log = { info: () => undefined, warn: () => undefined };
  const d = { log, signal: ends.signal, reloadEveryMs: 1 };
  const of = (text: string): TokenAuthenticator => {
    writeFileSync(join(dir, 'tokens.csv'), text);
    return tokenFile(join(dir, 'tokens.csv'), d);
  };
  const ask = (text: string, token: string): unknown => of(text).authenticateToken(token, ['us']);

  for (const line of ['token', 'token,', 'token,name', 'token,"a,b"', ',name,1', '"",name,1']) {
    it(`refuses the line ${JSON.stringify(line)} and says where it is`, () => {
      assert.throws(() => of(`a,b,c\n${line}\n`), /tokens\.csv:2: a line is/);
    });
  }

  it('refuses a file that is not there', () => assert.throws(() => tokenFile(join(dir, 'none'), d), /ENOENT/));

  for (const token of ['', 'T', 't ', 't2', '__proto__', 't\u0000', 'ｔ']) {
    it(`does not know ${JSON.stringify(token)}`, () => assert.equal(ask('t,alice,1', token), undefined));
  }

  it('follows the file, and keeps what it knows while that cannot be used', async () => {
    const tokens = of('t,alice,1');
    const known = async (token: string): Promise<boolean> =>
      (await tokens.authenticateToken(token, ['us'])) !== undefined;
    const until = async (holds: () => Promise<boolean>): Promise<void> => {
      while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    writeFileSync(join(dir, 'tokens.csv'), 't2,bob,2\nt,ali');
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([await known('t'), await known('t2')], [true, false]);
    writeFileSync(join(dir, 'tokens.csv'), 't2,bob,2');
    await until(() => known('t2'));
    assert.equal(await known('t'), false);
  });

  it('knows users by their tokens, with groups in one column', () => {
    const text = '# the team\n\nt,alice,7,"a, b,,c"\r\nt2,"Smith, J.",,x\nt3,eve,\n';
    const user = (name: string, uid: string, groups: string[]): object => ({ user: { name, uid, groups, extra: {} } });
    assert.deepEqual(ask(text, 't'), user('alice', '7', ['a', 'b', 'c']));
    assert.deepEqual(ask(text, 't2'), user('Smith, J.', '', ['x']));
    assert.deepEqual(ask(text, 't3'), user('eve', '', []));
  });
});
