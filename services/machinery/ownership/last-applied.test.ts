import assert from 'node:assert/strict';
import { hasReason } from '../meta/status.js';
import { Scene } from './testing/scene.js';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const settings = (data: object, annotations?: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 's', ...(annotations && { annotations }) },
  data,
});
/** As the client wrote it when it applied by itself. */
function applyByItself(s: Scene, data: object, note: object = settings(data)): void {
  s.update('kubectl-client-side-apply', settings(data, { [ANNOTATION]: JSON.stringify(note) }));
}
const scene = (): Scene => new Scene('core/v1.ConfigMap', { lastAppliedAnnotation: ANNOTATION });
const isConflict = (err: unknown): boolean => hasReason(err, 'Conflict');
const noteOf = (s: Scene): string | undefined => s.live.metadata.annotations?.[ANNOTATION];

describe('a client that begins to apply at the server', () => {
  it('changes what it had applied by itself', () => {
    const s = scene();
    applyByItself(s, { a: '1' });
    s.apply('kubectl', settings({ a: '2' }));
    assert.deepEqual(s.live['data'], { a: '2' });
    assert.deepEqual(s.fieldsOf('kubectl'), { 'f:data': { 'f:a': {} } });
  });

  it('does not change what another has set since, and hears of that alone', () => {
    const s = scene();
    applyByItself(s, { a: '1', b: '1' });
    s.edit('other', (o) => (o['data'] = { a: '1', b: '9' }));
    assert.throws(() => s.apply('kubectl', settings({ a: '2', b: '2' })), {
      message: 'Apply failed with 1 conflict: conflict with "other" using v1: .data.b',
    });
  });

  it('is another under another name', () => {
    const s = scene();
    applyByItself(s, { a: '1' });
    assert.throws(() => s.apply('other', settings({ a: '2' })), isConflict);
  });

  it('has no way over where the server is not told of the annotation', () => {
    const s = new Scene('core/v1.ConfigMap');
    applyByItself(s, { a: '1' });
    assert.throws(() => s.apply('kubectl', settings({ a: '2' })), isConflict);
  });

  const useless: Readonly<Record<string, unknown>> = {
    'another version': { ...settings({ a: '1' }), apiVersion: 'v2' },
    'no object': 'x',
    'items that cannot be told apart': { ...settings({ a: '1' }), metadata: { finalizers: ['x', 'x'] } },
    'values of another kind': { ...settings({ a: '1' }), data: 'x' },
  };
  for (const [what, note] of Object.entries(useless)) {
    it(`is allowed nothing by an annotation with ${what}`, () => {
      const s = scene();
      applyByItself(s, { a: '1' }, note as object);
      assert.throws(() => s.apply('kubectl', settings({ a: '2' })), isConflict);
    });
  }

  it('is allowed nothing by an annotation that is no JSON', () => {
    const s = scene();
    s.update('x', settings({ a: '1' }, { [ANNOTATION]: '{' }));
    assert.throws(() => s.apply('kubectl', settings({ a: '2' })), isConflict);
  });
});

describe('the annotation of what was applied last', () => {
  it('follows what is applied at the server, so that the way back is open', () => {
    const s = scene();
    applyByItself(s, { a: '1' });
    const managers = s.apply('kubectl', settings({ b: '1', a: '2' }, { [ANNOTATION]: 'old' }), { force: true });
    assert.equal(
      noteOf(s),
      '{"apiVersion":"v1","data":{"a":"2","b":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"s"}}\n',
    );
    const bytes = JSON.stringify(s.object);
    assert.equal(s.apply('kubectl', settings({ b: '1', a: '2' }, { [ANNOTATION]: noteOf(s) ?? '' })), managers);
    assert.equal(JSON.stringify(s.object), bytes);
  });

  it('is not made where there is none', () => {
    const s = scene();
    s.apply('kubectl', settings({ a: '1' }));
    assert.equal(noteOf(s), undefined);
  });

  it('is not touched by another applier', () => {
    const s = scene();
    applyByItself(s, { a: '1' });
    const before = noteOf(s);
    s.apply('other', settings({ b: '1' }));
    assert.equal(noteOf(s), before);
  });

  it('goes when it would not fit any more', () => {
    const s = scene();
    applyByItself(s, { a: '1' });
    s.apply('kubectl', settings({ a: 'x'.repeat(300_000) }));
    assert.equal(noteOf(s), undefined);
  });
});
