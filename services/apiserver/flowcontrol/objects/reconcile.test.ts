import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta } from '../../../machinery/meta/object.js';
import { isOurs, reconciled } from './reconcile.js';

const KEY = 'apf.kubernetes.io/autoupdate-spec';

const object = (shares: number, metadata: ObjectMeta = {}): ApiObject => ({
  kind: 'PriorityLevelConfiguration',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2',
  metadata: { name: 'l', generation: 1, ...metadata },
  spec: { limited: { assuredConcurrencyShares: shares } },
});
const says = (value: string): ObjectMeta => ({ annotations: { [KEY]: value } });
const wanted = object(10, says('true'));

describe('reconciled()', () => {
  for (const [what, mandatory, present, spec, annotation] of [
    // What a server proposes follows the annotation; without one, whether somebody has changed the spec.
    ['what an operator keeps', false, object(99, says('false')), undefined, undefined],
    ['what is in line', false, object(10, says('true')), undefined, undefined],
    ['what is in line, in other words of truth', false, object(10, says('T')), undefined, undefined],
    ['what nobody has changed but an older server', false, object(99, says('true')), 10, 'true'],
    ['what was changed, and is to be kept nevertheless', false, object(99, { generation: 7, ...says('1') }), 10, '1'],
    ['what says nothing and was not changed', false, object(99), 10, 'true'],
    ['what says nothing and was changed', false, object(99, { generation: 2 }), 99, 'false'],
    ['what says nonsense and was changed', false, object(99, { generation: 2, ...says('maybe') }), 99, 'false'],
    ['what says nonsense and was not', false, object(10, says('')), 10, 'true'],
    // What is mandatory follows nothing.
    ['a mandatory one in line', true, object(10, says('true')), undefined, undefined],
    ['a mandatory one that an operator wants to keep', true, object(99, says('false')), 10, 'true'],
    ['a mandatory one that was changed', true, object(99, { generation: 7 }), 10, 'true'],
  ] as const) {
    const does = spec === undefined ? 'leaves' : `writes ${spec} shares and ${JSON.stringify(annotation)} to`;
    it(`${does} ${what}`, () => {
      const before = structuredClone(present);
      const next = reconciled(present, wanted, { autoupdate: KEY, mandatory });
      if (spec === undefined) assert.equal(next, undefined);
      else
        assert.deepEqual(
          [next?.['spec'], next?.metadata.annotations],
          [object(spec)['spec'], says(annotation).annotations],
        );
      assert.deepEqual(present, before);
    });
  }

  it('leaves all else as it is', () => {
    const metadata = { labels: { a: 'b' }, uid: 'u', annotations: { x: 'y' }, finalizers: ['f'] };
    const next = reconciled({ ...object(99, metadata), status: { conditions: [] } }, wanted, {
      autoupdate: KEY,
      mandatory: true,
    });
    assert.deepEqual(next, {
      ...object(10, { ...metadata, annotations: { x: 'y', [KEY]: 'true' } }),
      status: { conditions: [] },
    });
  });
});

describe('isOurs()', () => {
  for (const [metadata, is] of [
    [{}, false],
    [says('false'), false],
    [says('maybe'), false],
    [{ ...says('true'), finalizers: ['somebody/cares'] }, false],
    [says('true'), true],
  ] as const) {
    it(`is ${is} with ${JSON.stringify(metadata)}`, () => assert.equal(isOurs(object(1, structuredClone(metadata) as ObjectMeta), KEY), is)); // prettier-ignore
  }
});
