import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readBuild, versionDocument } from './version.js';

describe('readBuild()', () => {
  const dir = mkdtempSync(join(tmpdir(), 'build-'));
  after(() => rmSync(dir, { recursive: true }));
  const UNKNOWN = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };
  const read = (text: string): unknown => {
    writeFileSync(join(dir, 'build.json'), text);
    return readBuild(pathToFileURL(join(dir, 'build.json')));
  };

  it('reads what the build wrote', () => {
    const build = { commit: 'abc', treeState: 'clean', date: '2022-05-03T13:46:05Z' };
    assert.deepEqual(read(JSON.stringify(build)), build);
  });

  for (const text of ['', '{', 'null', '[]', '{"commit":1,"treeState":null}'])
    it(`knows nothing where the file says ${JSON.stringify(text)}`, () => assert.deepEqual(read(text), UNKNOWN));

  it('knows nothing without a file', () => assert.deepEqual(readBuild(new URL('file:///nowhere/build.json')), UNKNOWN));

  it('finds what this code was built from', () => {
    const { date } = readBuild();
    assert.match(date, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

describe('versionDocument()', () => {
  it('tells of the build', () => {
    const build = { commit: 'abc', treeState: 'clean', date: '2022-05-03T13:46:05Z' };
    const { goVersion, platform, ...told } = versionDocument('1.24.0', build) as Record<string, string>;
    assert.deepEqual(told, {
      major: '1',
      minor: '24',
      gitVersion: 'v1.24.0',
      gitCommit: 'abc',
      gitTreeState: 'clean',
      buildDate: '2022-05-03T13:46:05Z',
      compiler: 'v8',
    });
    assert.ok(goVersion !== undefined && platform !== undefined);
  });
});
