import assert from 'node:assert/strict';
import { loadCatalog } from '../../../machinery/types/catalog.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { offered, type IssuerOptions } from './issuer.js';

const options = (serviceAccountIssuer: readonly string[], serviceAccountSigningKeyFile: string): IssuerOptions => ({
  serviceAccountIssuer,
  serviceAccountSigningKeyFile,
  apiAudiences: [],
  serviceAccountMaxTokenExpirationMs: 0,
  serviceAccountExtendTokenExpiration: true,
});

describe('offered()', () => {
  const catalog = loadCatalog(vocabulary('platform'));
  const partsOf = (o: IssuerOptions): readonly string[] | undefined =>
    offered(catalog, o)
      .resources.find(({ resource }) => resource === 'serviceaccounts')
      ?.subresources.map(({ name }) => name);

  it('is everything where tokens can be issued', () => {
    assert.equal(offered(catalog, options(['https://x'], '/key')), catalog);
    assert.deepEqual(partsOf(options(['https://x'], '/key')), ['token']);
  });

  it('lacks tokens of service accounts, and nothing else, without a key or a name to issue them in', () => {
    for (const o of [options(['https://x'], ''), options([], '/key'), options([], '')]) {
      assert.deepEqual(partsOf(o), []);
      const others = offered(catalog, o).resources.filter((d, i) => d !== catalog.resources[i]);
      assert.deepEqual(
        others.map(({ resource }) => resource),
        ['serviceaccounts'],
      );
    }
  });
});
