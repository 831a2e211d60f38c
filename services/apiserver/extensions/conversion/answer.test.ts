import assert from 'node:assert/strict';
import { stateConvertible } from '../../registry/conversion/converter.js';
import { readConverted } from './answer.js';
import { ConversionError, type ConversionFailure } from './failures.js';
import { reviewVersion, writeReview } from './review.js';

const FROM = 'example.com/v1';
const TO = 'example.com/v2';
const REVIEW = 'apiextensions.example.com/v1';

const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', generation: 2, labels: { a: '1' } };
const original = { apiVersion: FROM, kind: 'Widget', metadata, spec: { old: 1 } };
const wanted = { apiVersion: TO, kind: 'Widget', metadata, spec: { new: 1 } };
const asked = { uid: '1', apiVersion: REVIEW, to: TO };

const answerWith = (response: object, more: object = {}): object => ({
  apiVersion: REVIEW,
  kind: 'ConversionReview',
  response: { uid: '1', result: { status: 'Success' }, convertedObjects: [wanted], ...response },
  ...more,
});

describe('answers of webhooks that convert', () => {
  const read = (body: unknown, sent: readonly (typeof original)[] = [original], about = asked): unknown =>
    readConverted(body, about, sent.map(stateConvertible));

  it('give objects with the metadata that they had, but for labels and annotations', () => {
    const changed = { name: 'a', namespace: 'n', uid: 'u', generation: 9, labels: { b: '2' }, finalizers: ['x/y'] };
    const [object] = read(answerWith({ convertedObjects: [{ ...wanted, metadata: changed }] })) as [typeof wanted];
    assert.deepEqual(object, { ...wanted, metadata: { ...metadata, labels: { b: '2' } } });
    const without = { name: 'a', namespace: 'n', uid: 'u', annotations: { c: '3' }, labels: null };
    const [bare] = read(answerWith({ convertedObjects: [{ ...wanted, metadata: without }] })) as [typeof wanted];
    const { labels: _, ...rest } = metadata;
    assert.deepEqual(bare.metadata, { ...rest, annotations: { c: '3' } });
    assert.deepEqual(metadata.labels, { a: '1' });
  });

  it('may keep labels that break rules which are younger than they', () => {
    const odd = { ...original, metadata: { ...metadata, labels: { a: 'b c' } } };
    const back = { ...wanted, metadata: odd.metadata };
    assert.deepEqual(read(answerWith({ convertedObjects: [back] }), [odd]), [back]);
  });

  it('of the older version need not say what they are', () => {
    const old = { ...asked, apiVersion: 'apiextensions.example.com/v1beta1' };
    const body = answerWith({ uid: 'another' }, { kind: '', apiVersion: '' });
    assert.deepEqual(read(body, [original], old), [wanted]);
  });

  const converted = (change: object): object => ({ convertedObjects: [{ ...wanted, ...change }] });
  const withMetadata = (change: object): object => converted({ metadata: { ...metadata, ...change } });
  const CALL = 'conversion_webhook_malformed_response_failure';
  const OBJECT = 'conversion_webhook_invalid_converted_object_failure';
  const PARTIAL = 'conversion_webhook_partial_response_failure';
  const REFUSED: readonly (readonly [what: string, body: unknown, failure: ConversionFailure, message: string])[] = [
    ['no object', 'text', CALL, 'failed: the answer is no object'],
    ['another kind', answerWith({}, { kind: 'Pod' }), CALL, `failed: expected webhook response of ${REVIEW}, Kind=ConversionReview, got ${REVIEW}, Kind=Pod`], // prettier-ignore
    ['no version', answerWith({}, { apiVersion: undefined }), CALL, `failed: expected webhook response of ${REVIEW}, Kind=ConversionReview, got /, Kind=ConversionReview`], // prettier-ignore
    ['no response', answerWith({}, { response: undefined }), CALL, 'failed: no response provided'],
    ['a response of another type', answerWith({}, { response: [] }), CALL, 'failed: response of the answer is no object'], // prettier-ignore
    ['another uid', answerWith({ uid: 'B' }), CALL, 'failed: expected response.uid="1", got "B"'],
    ['no result', answerWith({ result: null }), CALL, "failed: response.result.status was '', not 'Success'"],
    ['a failure', answerWith({ result: { status: 'S' } }), CALL, "failed: response.result.status was 'S', not 'Success'"], // prettier-ignore
    ['a failure and why', answerWith({ result: { status: 'S', message: 'why' } }), CALL, 'failed: why'],
    ['no list', answerWith({ convertedObjects: {} }), CALL, 'failed: response.convertedObjects of the answer is no list'], // prettier-ignore
    ['nothing', answerWith({ convertedObjects: null }), PARTIAL, 'returned 0 objects, expected 1'],
    ['too much', answerWith({ convertedObjects: [wanted, wanted] }), PARTIAL, 'returned 2 objects, expected 1'],
    ['a text', answerWith({ convertedObjects: ['x'] }), OBJECT, 'returned invalid converted object at index 0: it is of type string'], // prettier-ignore
    ['another version', answerWith(converted({ apiVersion: FROM })), OBJECT, `returned invalid object at index 0: invalid groupVersion (expected ${TO}, received ${FROM})`], // prettier-ignore
    ['no kind', answerWith(converted({ kind: undefined })), OBJECT, 'returned invalid object at index 0: invalid kind (expected Widget, received )'], // prettier-ignore
    ['another name', answerWith(withMetadata({ name: 'b' })), OBJECT, 'returned invalid object: must have the same name: a != b'], // prettier-ignore
    ['no namespace', answerWith(withMetadata({ namespace: undefined })), OBJECT, 'returned invalid object: must have the same namespace: n != '], // prettier-ignore
    ['another uid of the object', answerWith(withMetadata({ uid: 'v' })), OBJECT, 'returned invalid object: must have the same UID: u != v'], // prettier-ignore
    ['no metadata', answerWith(converted({ metadata: undefined })), OBJECT, 'returned invalid object: must have the same name: a != '], // prettier-ignore
    ['labels that are none', answerWith(withMetadata({ labels: [] })), OBJECT, 'returned invalid metadata: invalid metadata.labels of type array in converted object'], // prettier-ignore
    ['a label that is no text', answerWith(withMetadata({ labels: { a: 1 } })), OBJECT, 'returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object'], // prettier-ignore
    ['a wrong annotation', answerWith(withMetadata({ annotations: { '-': '' } })), OBJECT, 'returned invalid metadata: metadata.annotations: Invalid value: "-": '], // prettier-ignore
  ];
  for (const [what, body, failure, message] of REFUSED) {
    it(`are refused with ${what}`, () => {
      assert.throws(
        () => read(body),
        (err) => err instanceof ConversionError && err.failure === failure && err.message.startsWith(message),
      );
    });
  }

  it('name the place of the one among many that is wrong', () => {
    const two = { ...original, metadata: { ...metadata, name: 'b' } };
    const body = (second: object): unknown => answerWith({ convertedObjects: [wanted, { ...wanted, ...second }] });
    const TABLE: readonly (readonly [object, string])[] = [
      [{ apiVersion: FROM }, 'converted object at index 1: invalid groupVersion'],
      [{ kind: 'x' }, 'converted object at index 1: invalid kind'],
      [{}, 'converted object at index 1: must have the same name: b != a'],
      [{ metadata: { ...two.metadata, labels: { a: 1 } } }, 'metadata in object at index 1: metadata.labels[a]'],
    ];
    for (const [second, message] of TABLE) {
      assert.throws(() => read(body(second), [original, two]), { message: new RegExp(`^returned invalid ${message.replace(/[[\]]/g, '\\$&')}`) }); // prettier-ignore
    }
  });
});

describe('questions to webhooks that convert', () => {
  it('hold what is sent as it is, and what it is to become', () => {
    const sent = [original, { ...original, kind: 'Widget' }].map(stateConvertible);
    const review = writeReview(sent, TO, REVIEW);
    assert.deepEqual(JSON.parse(review.body.toString()), {
      apiVersion: REVIEW,
      kind: 'ConversionReview',
      request: { uid: review.uid, desiredAPIVersion: TO, objects: [original, original] },
    });
  });

  it('are of the first version of reviews that both know', () => {
    assert.deepEqual([['v9', 'v1beta1', 'v1'], ['v1'], ['v9'], []].map(reviewVersion), ['v1beta1', 'v1', undefined, undefined]); // prettier-ignore
  });
});
