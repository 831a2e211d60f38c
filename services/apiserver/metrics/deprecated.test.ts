import assert from 'node:assert/strict';
import { createMetrics } from './metrics.js';
import { showsDeprecated } from './deprecated.js';

describe('showsDeprecated', () => {
  it('refuses any release but the one before', () => {
    for (const release of ['1.22', '1.24', '1.25', 'yes']) {
      assert.throws(() => showsDeprecated(release), /the one release that can be named is 1\.23/);
    }
  });

  /** Deprecated since, shown without the flag, shown with it. In release 1.24. */
  const cases: readonly (readonly [string, boolean, boolean])[] = [
    ['1.24', true, true],
    ['1.23', true, true],
    ['1.22', true, true],
    ['1.21', false, true],
    ['1.20', false, false],
  ];
  for (const [since, shown, withFlag] of cases) {
    it(`${shown ? 'shows' : 'hides'} what is deprecated since ${since}, and ${withFlag ? 'shows' : 'hides'} it with the flag`, () => {
      assert.equal(showsDeprecated('')(since), shown);
      assert.equal(showsDeprecated('1.23')(since), withFlag);
    });
  }
});

describe('deprecated metrics', () => {
  const namesOf = async (showHiddenFor: string): Promise<string> =>
    (await createMetrics({ showHiddenFor }).render()).body;

  it('say so in their description, as long as they are there', async () => {
    const text = await namesOf('');
    assert.match(text, /^# HELP etcd_object_counts \(Deprecated from 1\.22\) /m);
    assert.match(text, /^# HELP apiserver_longrunning_gauge \(Deprecated from 1\.23\) /m);
    assert.doesNotMatch(text, /apiserver_registered_watchers/);
  });

  it('come back for a release after they were hidden', async () => {
    assert.match(await namesOf('1.23'), /^# HELP apiserver_registered_watchers \(Deprecated from 1\.21\) /m);
  });
});
