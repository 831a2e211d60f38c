import assert from 'node:assert/strict';
import { parseFlags, type FlagTable } from '../../machinery/flags/flags.js';
import { shownFlags } from './flags.js';

const TABLE = {
  port: { flag: 'secure-port', type: 'int', default: '6443', help: '' },
  timeout: { flag: 'request-timeout', type: 'duration', default: '1m', help: '' },
  servers: { flag: 'etcd-servers', type: 'list', help: '' },
  gates: { flag: 'feature-gates', type: 'map', help: '' },
  on: { flag: 'profiling', type: 'bool', help: '' },
  tokens: { flag: 'token-auth-file', type: 'string', help: '' },
  password: { flag: 'db-password', type: 'string', help: '' },
} as const satisfies FlagTable;

describe('shownFlags()', () => {
  it('shows what counts, in the form in which it is given, without secrets', () => {
    const argv = [
      ...['--etcd-servers=https://me:s3cret@a:1,https://b:2', '--feature-gates=A=true,B=false', '--profiling'],
      ...['--token-auth-file=/etc/tokens', '--db-password=s3cret'],
    ];
    const text = shownFlags(TABLE, parseFlags(TABLE, argv).options);
    assert.deepEqual(text.split('\n'), [
      '--db-password=[redacted]',
      '--etcd-servers=https://me:[redacted]@a:1,https://b:2',
      '--feature-gates=A=true,B=false',
      '--profiling=true',
      '--request-timeout=60000ms',
      '--secure-port=6443',
      '--token-auth-file=/etc/tokens',
      '',
    ]);
    const again = parseFlags(TABLE, text.split('\n').slice(0, -1)).options;
    assert.equal(again.timeout, 60_000);
  });
});
