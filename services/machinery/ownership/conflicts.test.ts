import assert from 'node:assert/strict';
import { StatusError } from '../meta/status.js';
import { Scene } from './testing/scene.js';

const deployment = (replicas: number, image: string, finalizers?: string[]): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', ...(finalizers && { finalizers }) },
  spec: { replicas, template: { spec: { containers: [{ name: 'c', image }] } } },
});

function conflictOf(write: () => unknown): StatusError {
  try {
    write();
  } catch (err) {
    if (err instanceof StatusError) return err;
    throw err;
  }
  throw new Error('nothing was refused');
}

describe('the error of contested fields', () => {
  it('names the owner, the version he wrote in, and the field', () => {
    const s = new Scene('apps/v1.Deployment');
    s.update('kubectl-edit', deployment(1, 'a'));
    const err = conflictOf(() => s.apply('me', deployment(2, 'a')));
    assert.equal(
      err.message,
      'Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.replicas',
    );
    assert.deepEqual([err.code, err.reason], [409, 'Conflict']);
    assert.deepEqual(err.details, {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-edit" using apps/v1',
          field: '.spec.replicas',
        },
      ],
    });
  });

  it('names no version of an applier, who is the same in all', () => {
    const s = new Scene('apps/v1.Deployment');
    s.apply('other', deployment(1, 'a'));
    const err = conflictOf(() => s.apply('me', deployment(2, 'a')));
    assert.equal(err.message, 'Apply failed with 1 conflict: conflict with "other": .spec.replicas');
  });

  it('lists several fields by owner', () => {
    const s = new Scene('apps/v1.Deployment');
    s.apply('b', deployment(1, 'a'));
    s.edit('a', (o) => ((o['spec'] as { replicas: number }).replicas = 5), { subresource: 'scale' });
    s.apply('c', deployment(5, 'a'));
    const err = conflictOf(() => s.apply('me', deployment(2, 'z')));
    const image = '.spec.template.spec.containers[name="c"].image';
    assert.equal(
      err.message,
      [
        'Apply failed with 4 conflicts: conflicts with "a" with subresource "scale" using apps/v1:',
        '- .spec.replicas',
        'conflicts with "b":',
        `- ${image}`,
        'conflicts with "c":',
        '- .spec.replicas',
        `- ${image}`,
      ].join('\n'),
    );
    assert.equal(err.details?.causes?.length, 4);
  });

  it('is about fields that would change, not about those that both want so', () => {
    const s = new Scene('apps/v1.Deployment');
    s.update('one', deployment(1, 'a', ['x']));
    s.apply('me', deployment(1, 'a', ['y']));
    assert.deepEqual(s.live.metadata.finalizers, ['x', 'y']);
  });
});
