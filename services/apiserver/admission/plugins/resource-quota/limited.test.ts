import assert from 'node:assert/strict';
import * as yaml from 'yaml';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { parseDocument } from '../../configuration.js';
import { limitedResources } from './limited.js';

const read = (text: string): unknown => limitedResources(parseDocument(yaml, text, 'f.yaml'), vocabulary('kubernetes'));
const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: ResourceQuotaConfiguration\n';

describe('limitedResources()', () => {
  it('are none without a configuration', () => {
    assert.deepEqual(limitedResources(undefined, vocabulary('kubernetes')), []);
    assert.deepEqual(read(HEAD), []);
  });

  it('are read with what they match', () => {
    const text = `${HEAD}limitedResources:\n- resource: pods\n  matchContains: [cpu]\n- apiGroup: apps\n  resource: deployments\n  matchScopes: [{scopeName: PriorityClass, operator: In, values: [a]}]\n`;
    assert.deepEqual(read(text), [
      { apiGroup: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] },
      {
        apiGroup: 'apps',
        resource: 'deployments',
        matchContains: [],
        matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }],
      },
    ]);
  });

  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    ['another kind', 'apiVersion: apiserver.config.k8s.io/v1\nkind: Other\n', /f\.yaml: line 2: kind/],
    ['the other vocabulary', 'apiVersion: apiserver.config.platform.io/v1\nkind: ResourceQuotaConfiguration\n', /line 1: apiVersion/], // prettier-ignore
    ['an unknown member', `${HEAD}limitedResources:\n- resource: pods\n  match: []\n`, /line 5: .*match.*unknown/],
    ['no resource', `${HEAD}limitedResources:\n- matchContains: [a]\n`, /line 4: .*resource.*required/],
    ['an operator that is none', `${HEAD}limitedResources:\n- resource: pods\n  matchScopes: [{scopeName: a, operator: Is}]\n`, /line 5: .*operator/], // prettier-ignore
  ];
  for (const [what, text, why] of REFUSED) {
    it(`are refused for ${what}, with the line`, () => assert.throws(() => read(text), why));
  }
});
