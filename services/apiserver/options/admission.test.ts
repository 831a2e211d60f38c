import assert from 'node:assert/strict';
import { FlagError, parseFlags } from '../../machinery/flags/flags.js';
import { ADMISSION_FLAGS, runsPlugin } from './admission.js';
import { AUTHORIZATION_FLAGS } from './authorization.js';

const FLAGS = { ...ADMISSION_FLAGS, ...AUTHORIZATION_FLAGS };
const runs = (name: Parameters<typeof runsPlugin>[1], ...argv: readonly string[]): boolean =>
  runsPlugin(parseFlags(FLAGS, argv).options, name);

describe('runsPlugin()', () => {
  for (const [argv, lifecycle, restriction] of [
    [[], true, true],
    [['--authorization-mode=RBAC'], true, false],
    [['--authorization-mode=RBAC', '--enable-admission-plugins=NodeRestriction'], true, true],
    [['--disable-admission-plugins=NodeRestriction'], true, false],
    [['--disable-admission-plugins=ServiceAccount,NamespaceLifecycle'], false, true],
    [['--enable-admission-plugins=NamespaceLifecycle', '--disable-admission-plugins=NamespaceLifecycle'], false, true],
  ] as const) {
    it(`decides by ${argv.join(' ') || 'the defaults'}`, () => {
      assert.deepEqual(
        [runs('NamespaceLifecycle', ...argv), runs('NodeRestriction', ...argv)],
        [lifecycle, restriction],
      );
    });
  }
});

describe('ADMISSION_FLAGS', () => {
  for (const flag of [
    '--enable-admission-plugins=Nope',
    '--disable-admission-plugins=Nope',
    '--enable-admission-plugins=LimitRanger',
  ]) {
    it(`refuses ${flag}`, () => assert.throws(() => parseFlags(FLAGS, [flag]), FlagError));
  }
  it('lets plugins that are not there be disabled', () => {
    assert.doesNotThrow(() => parseFlags(FLAGS, ['--disable-admission-plugins=LimitRanger,ServiceAccount']));
  });
});
