import assert from 'node:assert/strict';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { MatchResources } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { ServedResource } from '../../registry/resources.js';
import { constraintsOf, coveringOf, formFor } from './constraints.js';

const declaration = (version: string): ResourceDeclaration =>
  ({ group: 'g', version, resource: 'widgets', kind: 'Widget', namespaced: true, subresources: [] }) as unknown as ResourceDeclaration; // prettier-ignore
const [v1, v2] = [declaration('v1'), declaration('v2')];
const served = { versions: () => [{ declaration: v1 }, { declaration: v2 }] } as unknown as ServedResource;
const d = { resources: { served: () => served } };

const rule = (said: object = {}): NonNullable<MatchResources['resourceRules']>[number] => ({
  operations: ['CREATE'],
  apiGroups: ['g'],
  apiVersions: ['v1'],
  resources: ['widgets'],
  ...said,
});

/** The version in which an object is shown. */
function shown(constraints: MatchResources, name = 'x', resource = v1): string | undefined {
  const covering = coveringOf(d, constraintsOf(constraints), { operation: 'CREATE', resource, subresource: '' });
  return covering && formFor(covering, name)?.version;
}

describe('constraints of policies', () => {
  it('cover what a rule covers, and everything without rules', () => {
    assert.equal(shown({ resourceRules: [rule()] }), 'v1');
    assert.equal(shown({ resourceRules: [rule({ operations: ['DELETE'] })] }), undefined);
    assert.equal(shown({ resourceRules: [rule({ operations: ['DELETE'] }), rule()] }), 'v1');
    assert.equal(shown({}), 'v1');
    assert.equal(shown({}, 'x', v2), 'v2');
  });

  it('cover other versions of the same, unless they are exact', () => {
    assert.equal(shown({ resourceRules: [rule()] }, 'x', v2), 'v1');
    assert.equal(shown({ resourceRules: [rule()], matchPolicy: 'Exact' }, 'x', v2), undefined);
    const both = { resourceRules: [rule(), rule({ apiVersions: ['v2'] })] };
    assert.equal(shown(both, 'x', v2), 'v2');
  });

  it('cover objects of certain names', () => {
    const named = { resourceRules: [rule({ resourceNames: ['a', 'b'] })] };
    assert.equal(shown(named, 'b'), 'v1');
    assert.equal(shown(named, 'c'), undefined);
    assert.equal(shown(named, ''), undefined);
    const either = { resourceRules: [rule({ resourceNames: ['a'] }), rule({ apiVersions: ['v2'] })] };
    assert.deepEqual([shown(either, 'a'), shown(either, 'b')], ['v1', 'v2']);
  });

  it('leave out what they exclude, also in other versions', () => {
    const out = (excluded: object): MatchResources => ({
      resourceRules: [rule()],
      excludeResourceRules: [rule(excluded)],
    });
    assert.equal(shown(out({})), undefined);
    assert.equal(shown(out({ apiVersions: ['v2'] })), undefined);
    assert.equal(shown({ ...out({ apiVersions: ['v2'] }), matchPolicy: 'Exact' }), 'v1');
    assert.equal(shown(out({ operations: ['UPDATE'] })), 'v1');
    assert.equal(shown(out({ resourceNames: ['a'] }), 'a'), undefined);
    assert.equal(shown(out({ resourceNames: ['a'] }), 'b'), 'v1');
  });
});
