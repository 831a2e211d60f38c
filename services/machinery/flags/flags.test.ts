import assert from 'node:assert/strict';
import { FlagError, helpText, parseDuration, parseFlags, type FlagTable } from './flags.js';

const TABLE = {
  port: { flag: 'secure-port', type: 'int', default: '6443', min: '0', max: '65535', help: 'where to listen' },
  grace: { flag: 'grace', type: 'duration', default: '10s', min: '1s', help: 'how long to wait' },
  chance: { flag: 'chance', type: 'decimal', max: '0.5', help: 'how likely' },
  servers: { flag: 'etcd-servers', type: 'list', help: 'endpoints' },
  config: { flag: 'runtime-config', type: 'map', help: 'what to serve' },
  level: { flag: 'level', short: 'l', type: 'int', help: 'how much' },
  verbose: { flag: 'verbose', type: 'bool', help: 'say more' },
  store: { flag: 'store', type: 'string', default: 'embedded', choices: ['embedded', 'etcd'], help: 'which store' },
  old: { flag: 'old', type: 'string', help: 'gone soon', deprecated: { since: '1.20', instead: 'use --store' } },
} as const satisfies FlagTable;

describe('parseFlags()', () => {
  it('gives every option its default', () => {
    const { options, given } = parseFlags(TABLE, []);
    assert.deepEqual(options, {
      port: 6443,
      grace: 10_000,
      chance: 0,
      servers: [],
      config: new Map(),
      level: 0,
      verbose: false,
      store: 'embedded',
      old: '',
    });
    assert.equal(given.size, 0);
  });

  it('takes values after a space and after an equals sign', () => {
    const { options, given } = parseFlags(TABLE, ['--secure-port', '1', '--grace=1m30s', '--verbose', '--store=etcd']);
    assert.deepEqual([options.port, options.grace, options.verbose, options.store], [1, 90_000, true, 'etcd']);
    assert.deepEqual([...given].sort(), ['grace', 'port', 'store', 'verbose']);
    assert.equal(parseFlags(TABLE, ['--chance=0.02']).options.chance, 0.02);
  });

  it('takes a letter for a name', () => {
    for (const argv of [['-l=2'], ['-l2'], ['-l', '2'], ['--level=2'], ['--level', '2']]) {
      assert.equal(parseFlags(TABLE, argv).options.level, 2, argv.join(' '));
    }
    for (const argv of [['-x=2'], ['-l'], ['-l='], ['-lx']]) assert.throws(() => parseFlags(TABLE, argv), FlagError);
    assert.match(helpText('x', TABLE), /^ {2}-l, --level INT$/m);
  });

  it('joins lists and pairs that are given several times', () => {
    const { options } = parseFlags(TABLE, [
      '--etcd-servers=a,b',
      '--etcd-servers',
      'c',
      '--runtime-config=batch/v1=false,api/all',
    ]);
    assert.deepEqual(options.servers, ['a', 'b', 'c']);
    assert.deepEqual(
      [...options.config],
      [
        ['batch/v1', 'false'],
        ['api/all', 'true'],
      ],
    );
  });

  it('warns of deprecated flags', () => {
    assert.deepEqual(parseFlags(TABLE, ['--old=x']).warnings, ['--old is deprecated since 1.20: use --store']);
  });

  const refused: readonly [readonly string[], string][] = [
    [['--nope'], 'Unknown flag: --nope'],
    [['word'], 'Unknown flag: word'],
    [['--secure-port'], '--secure-port needs a value'],
    [['--chance=1e-3'], 'Cannot parse --chance: "1e-3" is no number'],
    [['--chance=0.51'], 'Cannot parse --chance: "0.51" is above 0.5'],
    [['--secure-port=x'], 'Cannot parse --secure-port: "x" is no integer'],
    [['--secure-port=65536'], 'Cannot parse --secure-port: "65536" is above 65535'],
    [['--secure-port=-1'], 'Cannot parse --secure-port: "-1" is below 0'],
    [['--grace=5'], 'Cannot parse --grace: "5" is no duration such as 30s or 5m'],
    [['--grace=10ms'], 'Cannot parse --grace: "10ms" is below 1s'],
    [['--verbose=maybe'], 'Cannot parse --verbose: "maybe" is neither true nor false'],
    [['--store=redis'], 'Cannot parse --store: "redis" choose one of embedded, etcd'],
    [['--runtime-config==x'], 'Cannot parse --runtime-config: "=x" is no key=value pair'],
  ];
  for (const [argv, message] of refused) {
    it(`refuses ${argv.join(' ')}`, () => {
      assert.throws(() => parseFlags(TABLE, argv), new FlagError(message));
    });
  }
});

describe('parseDuration()', () => {
  it('adds up its parts', () => {
    assert.equal(parseDuration('1h2m3s4ms'), 3_723_004);
    assert.equal(parseDuration('1.5s'), 1500);
    assert.equal(parseDuration('0'), 0);
  });

  it('is NaN for anything else', () => {
    for (const text of ['', '5', 's', '-1s', '1s ', '1d']) assert.ok(Number.isNaN(parseDuration(text)), text);
  });
});

describe('helpText()', () => {
  it('names each flag with its default and its choices', () => {
    const text = helpText('platform up [flags]', TABLE);
    assert.match(text, /--secure-port INT\n +where to listen \(default 6443\)/);
    assert.match(text, /--store STRING\n +which store \(one of embedded, etcd; default embedded\)/);
    assert.match(text, /--verbose\n/);
  });
});
