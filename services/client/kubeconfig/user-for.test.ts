import assert from 'node:assert/strict';
import { clientConfig } from './config.js';
import { userFor } from './user-for.js';

describe('userFor()', () => {
  const found = (target: string, ...names: string[]): string | undefined => {
    const config = clientConfig({ users: names.map((name) => ({ name, user: { username: name } })) }, 'f');
    return userFor(target, config)?.username;
  };
  const CASES: readonly (readonly [string, string, readonly string[], string | undefined])[] = [
    ['nobody for an unknown host', 'a.b.svc:443', ['b.svc', 'a.b', 'A.b.svc'], undefined],
    ['the user of the host and port', 'a.b.svc:8443', ['a.b.svc', '*', 'a.b.svc:8443'], 'a.b.svc:8443'],
    ['nobody of another port', 'a.b.svc:8443', ['a.b.svc'], undefined],
    ['the user of the host at the port 443', 'a.b.svc:443', ['*', 'a.b.svc'], 'a.b.svc'],
    ['the one that names the port first', 'a.b.svc:443', ['a.b.svc', 'a.b.svc:443'], 'a.b.svc:443'],
    ['the longest wildcard', 'a.b.svc:443', ['*', '*.svc', '*.b.svc'], '*.b.svc'],
    ['a wildcard for several labels', 'a.b.svc:443', ['*.svc'], '*.svc'],
    ['no wildcard for the whole host', 'b.svc:443', ['*.b.svc'], undefined],
    ['the default at last', 'a.b.svc:443', ['*'], '*'],
    ['no wildcard within a label', 'ab.svc:443', ['*b.svc'], undefined],
  ];
  for (const [what, target, names, expected] of CASES) {
    it(`finds ${what}`, () => assert.equal(found(target, ...names), expected));
  }
});
