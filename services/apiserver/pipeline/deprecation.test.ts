import assert from 'node:assert/strict';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Context, ResourceRequest } from '../request/request.js';
import { deprecationWarning, warnOfDeprecation } from './request-info.js';

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

describe('warnOfDeprecation', () => {
  const { resources } = loadCatalog(vocabulary('kubernetes'));
  const warned = async (resource: string, version: string): Promise<unknown> => {
    const declaration = resources.find((r) => r.resource === resource && r.version === version);
    let header: unknown;
    const res = { getHeader: () => undefined, setHeader: (_: string, value: unknown) => (header = value) };
    const info = { kind: 'resource', declaration } as ResourceRequest;
    const refuse = (): Promise<never> => Promise.reject(new Error('refused'));
    const going: unknown = warnOfDeprecation({ res, state: { info } } as unknown as Context, refuse);
    await assert.rejects(Promise.resolve(going), /refused/);
    return header;
  };

  it('warns of what is refused further in', async () =>
    assert.match(
      String(await warned('poddisruptionbudgets', 'v1beta1')),
      /^299 - "policy\/v1beta1 PodDisruptionBudget is/,
    ));

  it('has nothing to say of what stays', async () =>
    assert.equal(await warned('poddisruptionbudgets', 'v1'), undefined));
});
