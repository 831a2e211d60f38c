import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { withDangling } from './dangling.js';

const NOW = '2022-05-03T00:00:00Z';
const BEFORE = '2022-01-01T00:00:00Z';

const schema = (status?: object): ApiObject => ({
  kind: 'FlowSchema',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2',
  metadata: { name: 's' },
  spec: { priorityLevelConfiguration: { name: 'l' } },
  ...(status === undefined ? {} : { status }),
});
const found = (lastTransitionTime: string): object => ({
  type: 'Dangling',
  status: 'False',
  reason: 'Found',
  message: 'There is a priority level "l"',
  lastTransitionTime,
});
const missing = (lastTransitionTime: string): object => ({
  type: 'Dangling',
  status: 'True',
  reason: 'NotFound',
  message: 'There is no priority level "l"',
  lastTransitionTime,
});

describe('withDangling()', () => {
  const judged = (status: object | undefined, exists: boolean): unknown =>
    withDangling(schema(status), (level) => level === 'l' && exists, NOW)?.['status'];

  it('leaves a schema that says already what is', () => {
    assert.equal(judged({ conditions: [found(BEFORE)] }, true), undefined);
    assert.equal(judged({ conditions: [missing(BEFORE)] }, false), undefined);
  });

  it('leaves what names no level', () => {
    assert.equal(
      withDangling({ ...schema(), spec: {} }, () => false, NOW),
      undefined,
    );
  });

  it('says of a new schema whether its level is there', () => {
    for (const status of [undefined, {}, { conditions: [] }]) {
      assert.deepEqual(judged(status, true), { conditions: [found(NOW)] });
      assert.deepEqual(judged(status, false), { conditions: [missing(NOW)] });
    }
  });

  it('says since when, and keeps the conditions of others', () => {
    const other = { type: 'Other', status: 'True' };
    assert.deepEqual(judged({ conditions: [found(BEFORE), other] }, false), { conditions: [other, missing(NOW)] });
  });

  it('keeps the time when only the words change', () => {
    const older = { ...found(BEFORE), message: 'an older sentence' };
    assert.deepEqual(judged({ conditions: [older] }, true), { conditions: [found(BEFORE)] });
  });
});
