import assert from 'node:assert/strict';
import { parseFlags } from '../../machinery/flags/flags.js';
import { mayBeAnonymous } from './anonymous.js';
import { AUTHENTICATION_FLAGS } from './authentication.js';
import { AUTHORIZATION_FLAGS } from './authorization.js';

const FLAGS = { ...AUTHENTICATION_FLAGS, ...AUTHORIZATION_FLAGS };

describe('mayBeAnonymous()', () => {
  for (const [argv, expected] of [
    [[], true],
    [['--anonymous-auth=false'], false],
    [['--authorization-mode=AlwaysAllow'], false],
    [['--authorization-mode=RBAC,AlwaysAllow'], false],
    [['--authorization-mode=AlwaysAllow', '--anonymous-auth'], true],
    [['--authorization-mode=AlwaysAllow', '--anonymous-auth=true'], true],
    [['--authorization-mode=AlwaysAllow', '--anonymous-auth=false'], false],
    [['--authorization-mode=AlwaysDeny'], true],
  ] as const)
    it(`is ${expected} for ${argv.join(' ') || 'no flags'}`, () =>
      assert.equal(mayBeAnonymous(parseFlags(FLAGS, argv)), expected));
});
