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

  it('leaves paths as they are', () => {
    const path = { kind: 'path', verb: 'get', path: '/metrics' } as const;
    assert.equal(attributesOf(path, new URLSearchParams('fieldSelector=metadata.name%3Da')), path);
  });
});
