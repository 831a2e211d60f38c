import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenFile } from './token-file.js';
import type { TokenAuthenticator } from './authenticator.js';

describe('tokenFile()', () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-file-'));
  after(() => rmSync(dir, { recursive: true }));
  const of = (text: string): TokenAuthenticator => {
    writeFileSync(join(dir, 'tokens.csv'), text);
    return tokenFile(join(dir, 'tokens.csv'));
  };
  const ask = (text: string, token: string): unknown => of(text).authenticateToken(token, ['us']);

  for (const line of ['token', 'token,', 'token,name', 'token,"a,b"', ',name,1', '"",name,1']) {
    it(`refuses the line ${JSON.stringify(line)} and says where it is`, () => {
      assert.throws(() => of(`a,b,c\n${line}\n`), /tokens\.csv:2: a line is/);
    });
  }

  it('refuses a file that is not there', () => assert.throws(() => tokenFile(join(dir, 'none')), /ENOENT/));

  for (const token of ['', 'T', 't ', 't2', '__proto__', 't\u0000', 'ｔ']) {
    it(`does not know ${JSON.stringify(token)}`, () => assert.equal(ask('t,alice,1', token), undefined));
  }

  it('knows users by their tokens, with groups in one column', () => {
    const text = '# the team\n\nt,alice,7,"a, b,,c"\r\nt2,"Smith, J.",,x\nt3,eve,\n';
    const user = (name: string, uid: string, groups: string[]): object => ({ user: { name, uid, groups, extra: {} } });
    assert.deepEqual(ask(text, 't'), user('alice', '7', ['a', 'b', 'c']));
    assert.deepEqual(ask(text, 't2'), user('Smith, J.', '', ['x']));
    assert.deepEqual(ask(text, 't3'), user('eve', '', []));
  });
});
