import assert from 'node:assert/strict';
import { resourcesIn, resourcesOfList } from './remote-discovery.js';

const of = { group: 'a.b', version: 'v1' };
const document = (...resources: unknown[]): object => ({
  items: [
    { metadata: { name: 'other' }, versions: [{ version: 'v1', resources: [{ resource: 'wrong' }] }] },
    { metadata: { name: 'a.b' }, versions: [{ version: 'v2' }, { version: 'v1', resources }] },
  ],
});

describe('resourcesIn()', () => {
  it('are those of the version, with the members that clients know', () => {
    const resource = {
      resource: 'things',
      responseKind: { group: 'a.b', version: 'v1', kind: 'Thing', own: 1 },
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get'],
      shortNames: ['t'],
      categories: ['all'],
      subresources: [{ subresource: 'status', verbs: ['get'], acceptedTypes: [{ kind: 'X' }] }],
      own: 'x',
    };
    assert.deepEqual(resourcesIn(document(resource), of), [
      {
        resource: 'things',
        responseKind: { group: 'a.b', version: 'v1', kind: 'Thing' },
        scope: 'Namespaced',
        singularResource: 'thing',
        verbs: ['get'],
        shortNames: ['t'],
        categories: ['all'],
        subresources: [
          {
            subresource: 'status',
            responseKind: { group: '', version: '', kind: '' },
            acceptedTypes: [{ group: '', version: '', kind: 'X' }],
            verbs: ['get'],
          },
        ],
      },
    ]);
  });

  it('are none where the version is not told of, or the document is none', () => {
    for (const hostile of [
      undefined,
      null,
      1,
      'x',
      [],
      {},
      { items: 3 },
      { items: [null, { metadata: 'a.b' }] },
      { items: [{ metadata: { name: 'a.b' }, versions: {} }] },
    ])
      // prettier-ignore
      assert.equal(resourcesIn(hostile, of), undefined);
  });

  it('read what is of another type as nothing, and are bounded', () => {
    const [odd] = resourcesIn(document(JSON.parse('{"resource":7,"verbs":[1,"get",{}],"scope":"x","responseKind":"y","__proto__":{"a":1},"shortNames":"abc"}')), of) ?? []; // prettier-ignore
    assert.deepEqual(odd, { resource: '', responseKind: { group: '', version: '', kind: '' }, scope: 'Cluster', singularResource: '', verbs: ['get'] }); // prettier-ignore
    assert.equal(resourcesIn(document(...Array.from({ length: 1_200 }, () => ({}))), of)?.length, 1_000);
  });
});

describe('resourcesOfList()', () => {
  it('are the same of a list of old', () => {
    const list = {
      resources: [
        { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list'], shortNames: ['t'] },
        { name: 'things/scale', namespaced: true, kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get'] },
        { name: 'globals', namespaced: false, kind: 'Global', verbs: ['get'] },
      ],
    }; // prettier-ignore
    assert.deepEqual(resourcesOfList(list, of), [
      {
        resource: 'things',
        responseKind: { group: 'a.b', version: 'v1', kind: 'Thing' },
        scope: 'Namespaced',
        singularResource: 'thing',
        verbs: ['get', 'list'],
        shortNames: ['t'],
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get'],
          },
        ],
      },
      {
        resource: 'globals',
        responseKind: { group: 'a.b', version: 'v1', kind: 'Global' },
        scope: 'Cluster',
        singularResource: '',
        verbs: ['get'],
      },
    ]);
    assert.deepEqual(resourcesOfList('x', of), []);
  });
});
