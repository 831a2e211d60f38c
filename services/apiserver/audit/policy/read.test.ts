import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { readPolicy } from './read.js';

const KUBERNETES = vocabulary('kubernetes');

describe('readPolicy()', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'audit-policy-'));
    file = join(dir, 'policy.yaml');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const REFUSED: readonly (readonly [what: string, text: string, why: RegExp])[] = [
    ['what is neither YAML nor JSON', 'rules: [', /yaml parse error/],
    ['a member that is there twice', '{"kind":"Policy","kind":"Policy"}', /kind: is there twice$/],
    ['a member that is there twice in YAML', 'kind: Policy\nkind: Policy\n', /kind: is there twice$/],
    [
      'words of another product',
      'apiVersion: audit.platform.io/v1\nkind: Policy\n',
      /apiVersion: is "audit\.platform\.io\/v1"/,
    ],
    ['two documents', 'kind: Policy\n---\nkind: Policy\n', /yaml parse error/],
  ];
  for (const [what, text, why] of REFUSED) {
    it(`refuses ${what} in one line that names the file`, async () => {
      writeFileSync(file, text);
      await assert.rejects(readPolicy(file, KUBERNETES), ({ message }: Error) => {
        assert.ok(message.startsWith(`Cannot use the audit policy ${file}: `), message);
        assert.match(message, why);
        assert.doesNotMatch(message, /\n/);
        return true;
      });
    });
  }

  it('refuses a file that is not there', async () => {
    await assert.rejects(readPolicy(file, KUBERNETES), /^Error: Cannot use the audit policy .*policy\.yaml: ENOENT/);
  });

  it('reads YAML', async () => {
    writeFileSync(file, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n# all\n- level: Metadata\n');
    assert.deepEqual(
      (await readPolicy(file, KUBERNETES)).rules.map(({ level }) => level),
      ['Metadata'],
    );
  });

  it('reads JSON in the words of the vocabulary', async () => {
    writeFileSync(file, '{"apiVersion":"audit.platform.io/v1","kind":"Policy","rules":[{"level":"None"}]}');
    assert.deepEqual(
      (await readPolicy(file, vocabulary('platform'))).rules.map(({ level }) => level),
      ['None'],
    );
  });
});
