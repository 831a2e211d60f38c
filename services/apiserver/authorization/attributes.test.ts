import assert from 'node:assert/strict';
import type { RequestVerb, ResourceRequest } from '../request/request.js';
import { attributesOf } from './stage.js';

const request = (verb: RequestVerb, name = ''): ResourceRequest => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  namespace: 'default',
  resource: 'secrets',
  subresource: '',
  name,
  watchPath: false,
  declaration: undefined,
  subresourceDeclaration: undefined,
});

const nameOf = (verb: RequestVerb, fieldSelector: string, name = ''): string => {
  const asked = attributesOf(request(verb, name), new URLSearchParams({ fieldSelector }));
  return asked.kind === 'resource' ? asked.name : assert.fail('not about a resource');
};

describe('attributesOf()', () => {
  const cases: readonly (readonly [verb: RequestVerb, selector: string, name: string])[] = [
    ['list', '', ''],
    ['list', 'metadata.name!=a', ''],
    ['list', 'metadata.name=', ''],
    ['list', 'metadata.namespace=a', ''],
    ['list', 'xmetadata.name=a', ''],
    ['list', 'Metadata.Name=a', ''],
    ['list', ' metadata.name=a', ''],
    ['list', 'metadata.name=a\\', ''],
    ['list', 'metadata.name=a=b', ''],
    ['list', 'metadata.name=a/b', ''],
    ['list', 'metadata.name=..', ''],
    ['list', 'metadata.name=a,nonsense', ''],
    ['deletecollection', 'metadata.name=a', ''],
    ['create', 'metadata.name=a', ''],
    ['list', 'metadata.name=a', 'a'],
    ['list', 'metadata.name==a', 'a'],
    ['watch', 'type=x,metadata.name=a', 'a'],
  ];
  for (const [verb, selector, name] of cases) {
    it(`finds the name ${JSON.stringify(name)} in a ${verb} with ${JSON.stringify(selector)}`, () => {
      assert.equal(nameOf(verb, selector), name);
    });
  }

  it('leaves requests that name their object as they are', () => {
    assert.equal(nameOf('get', 'metadata.name=a', 'b'), 'b');
    assert.equal(nameOf('watch', 'metadata.name=a', 'b'), 'b');
  });

  it('takes the first of several selectors, as lists do', () => {
    const query = new URLSearchParams('fieldSelector=metadata.namespace%3Dx&fieldSelector=metadata.name%3Da');
    assert.equal((attributesOf(request('list'), query) as ResourceRequest).name, '');
  });

  const narrowed = (it: ResourceRequest, query: string): unknown => {
    const asked = attributesOf(it, new URLSearchParams(query));
    if (asked.kind !== 'resource') return assert.fail('not about a resource');
    const { selectors } = asked;
    return selectors === undefined ? undefined : [selectors.fields.map(({ key }) => key), selectors.labels.map(({ key }) => key)]; // prettier-ignore
  };

  for (const verb of ['list', 'watch', 'deletecollection'] as const) {
    it(`tells by what a ${verb} selects`, () => {
      assert.deepEqual(narrowed(request(verb), 'fieldSelector=a%3Db&labelSelector=c'), [['a'], ['c']]);
      assert.deepEqual(narrowed(request(verb), 'labelSelector=c'), [[], ['c']]);
      assert.deepEqual(narrowed(request(verb, 'x'), 'fieldSelector=a%3Db'), [['a'], []]);
      assert.equal(narrowed(request(verb), 'labelSelector=&fieldSelector='), undefined);
      assert.equal(narrowed({ ...request(verb), watchPath: true }, 'labelSelector=c'), undefined);
    });
  }

  it('tells nothing of selectors where nothing is selected by them', () => {
    for (const verb of ['get', 'create', 'update', 'patch', 'delete'] as const) {
      const it = request(verb);
      assert.equal(attributesOf(it, new URLSearchParams('labelSelector=c&fieldSelector=a%3Db')), it);
    }
  });

  it('leaves paths as they are', () => {
    const path = { kind: 'path', verb: 'get', path: '/metrics' } as const;
    assert.equal(attributesOf(path, new URLSearchParams('fieldSelector=metadata.name%3Da')), path);
  });
});
