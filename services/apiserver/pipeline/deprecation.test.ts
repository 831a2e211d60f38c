import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { deprecationWarning } from './deprecation.js';

describe('deprecationWarning', () => {
  const { resources } = loadCatalog(vocabulary('kubernetes'));
  const warnings = new Map(
    resources
      .filter((r) => r.deprecated !== undefined)
      .map((r) => [`${r.group}/${r.version}/${r.resource}`, deprecationWarning(r)]),
  );

  it('says since when, until when, and what to use instead', () => {
    assert.equal(
      warnings.get('policy/v1beta1/poddisruptionbudgets'),
      'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget',
    );
    assert.equal(
      warnings.get('discovery.k8s.io/v1beta1/endpointslices'),
      'discovery.k8s.io/v1beta1 EndpointSlice is deprecated in v1.21+, unavailable in v1.25+; use discovery.k8s.io/v1 EndpointSlice',
    );
  });

  it('leaves out what is not known', () => {
    assert.equal(warnings.get('/v1/componentstatuses'), 'v1 ComponentStatus is deprecated in v1.19+');
    assert.equal(
      warnings.get('policy/v1beta1/podsecuritypolicies'),
      'policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+',
    );
  });

  it('says nothing of what a later release will deprecate', () => {
    assert.equal(warnings.has('flowcontrol.apiserver.k8s.io/v1beta2/flowschemas'), false);
  });
});
