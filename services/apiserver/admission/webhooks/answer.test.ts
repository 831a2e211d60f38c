import assert from 'node:assert/strict';
import { readAnswer, type Answer } from './answer.js';
import { CallError, WebhookDenial } from './errors.js';

const V1 = { uid: 'u1', apiVersion: 'admission.platform.io/v1' };
const V1BETA1 = { uid: 'u1', apiVersion: 'admission.platform.io/v1beta1' };
const PATCH = Buffer.from('[]').toString('base64');

describe('readAnswer()', () => {
  const of = (response: unknown, more: object = {}): object => ({
    apiVersion: V1.apiVersion,
    kind: 'AdmissionReview',
    response,
    ...more,
  });
  const good = { uid: 'u1', allowed: true };
  const read = (body: unknown, mutates = true, review = V1): Answer =>
    readAnswer(body, review, { name: 'w.example.com', mutates });

  const REFUSED: readonly (readonly [string, unknown, string, boolean?])[] = [
    ['a text', 'x', 'the answer is no object'],
    ['null', null, 'the answer is no object'],
    ['a list', [], 'the answer is no object'],
    ['another kind', of(good, { kind: 'Review' }), 'expected webhook response of admission.platform.io/v1, Kind=AdmissionReview, got admission.platform.io/v1, Kind=Review'], // prettier-ignore
    ['another version', of(good, { apiVersion: V1BETA1.apiVersion }), 'expected webhook response of admission.platform.io/v1, Kind=AdmissionReview, got admission.platform.io/v1beta1, Kind=AdmissionReview'], // prettier-ignore
    [
      'no kind',
      { response: good },
      'expected webhook response of admission.platform.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    ['no response', of(undefined), 'webhook response was absent'],
    ['another uid', of({ ...good, uid: 'u2' }), 'expected response.uid="u1", got "u2"'],
    ['no uid', of({ allowed: true }), 'expected response.uid="u1", got ""'],
    [
      'a patch without a type',
      of({ ...good, patch: PATCH }),
      'webhook returned response.patch but not response.patchType',
    ],
    [
      'a type without a patch',
      of({ ...good, patchType: 'JSONPatch' }),
      'webhook returned response.patchType but not response.patch',
    ],
    [
      'another type of patch',
      of({ ...good, patch: PATCH, patchType: 'Merge' }),
      'unsupported response.patchType "Merge"',
    ],
    [
      'a patch of a validating webhook',
      of({ ...good, patch: PATCH }),
      'validating webhook may not return response.patch',
      false,
    ],
    [
      'its type',
      of({ ...good, patchType: 'JSONPatch' }),
      'validating webhook may not return response.patchType',
      false,
    ],
  ];
  for (const [what, body, why, mutates] of REFUSED) {
    it(`refuses ${what}`, () =>
      assert.throws(() => read(body, mutates), new CallError(`received invalid webhook response: ${why}`, 503)));
  }

  for (const [what, response] of [
    ['allowed', { uid: 'u1', allowed: 'yes' }],
    ['allowed', { uid: 'u1', allowed: 1 }],
    ['uid', { uid: 1, allowed: true }],
    ['status', { ...good, status: 'no' }],
    ['patch', { ...good, patch: 7 }],
    ['patch is not Base64', { ...good, patch: '###', patchType: 'JSONPatch' }],
    ['patch is not Base64', { ...good, patch: 'W10', patchType: 'JSONPatch' }],
    ['warnings', { ...good, warnings: 'w' }],
    ['warnings', { ...good, warnings: [1] }],
    ['auditAnnotations', { ...good, auditAnnotations: { a: 1 } }],
  ] as const) {
    it(`refuses a response with ${what} of another type: ${JSON.stringify(response)}`, () =>
      assert.throws(
        () => read(of(response)),
        (err: unknown) => err instanceof CallError && err.code === 400 && err.message.includes(`response.${what}`),
      ));
  }

  it('takes allowed for false where it is not said', () => assert.equal(read(of({ uid: 'u1' })).allowed, false));

  it('reads all that a webhook may say', () => {
    const { allowed, patch, warnings, auditAnnotations } = read(
      of({ ...good, patch: PATCH, patchType: 'JSONPatch', warnings: ['a'], auditAnnotations: { k: 'v' } }),
    );
    assert.deepEqual([allowed, patch?.toString(), warnings, [...auditAnnotations]], [true, '[]', ['a'], [['k', 'v']]]);
  });

  it('leaves a patch on a denial, which stays one', () => {
    const { allowed, patch } = read(of({ uid: 'u1', allowed: false, patch: PATCH, patchType: 'Merge' }));
    assert.deepEqual([allowed, patch], [false, undefined]);
  });

  it('lets the older version leave out what it is, its uid and the type of a patch', () => {
    const answer = read({ response: { allowed: true, patch: PATCH } }, true, V1BETA1);
    assert.equal(answer.patch?.toString(), '[]');
    assert.throws(() => read({ response: { uid: 'u2', allowed: true } }, true, V1BETA1), /expected response.uid/);
    assert.throws(() => read(of(good), true, V1BETA1), /got admission.platform.io\/v1, /);
    assert.throws(
      () => read({ kind: 'AdmissionReview', response: good }, true, V1BETA1),
      /got \/, Kind=AdmissionReview/,
    );
  });

  it('leaves out annotations that have no name, and those beyond the bound, and shortens the others', () => {
    const named = read(of({ ...good, auditAnnotations: { 'a/b': '1', 'b c': '2', ['k'.repeat(64)]: '3', ok: '4' } }));
    assert.deepEqual([...named.auditAnnotations], [['ok', '4']]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'v'.repeat(9999)]));
    const bounded = [...read(of({ ...good, auditAnnotations: many })).auditAnnotations];
    assert.deepEqual([bounded.length, bounded[0]?.[1].length], [32, 4097]);
  });

  it('reads of a denial what it can use', () => {
    const denied = (status: unknown): unknown => read(of({ uid: 'u1', allowed: false, status })).denial;
    assert.deepEqual(denied({ code: 403, message: 'm', reason: 'r', details: { name: 'n' } }), {
      code: 403,
      message: 'm',
      reason: 'r',
      details: { name: 'n' },
    });
    assert.deepEqual(denied({ code: '403', message: 1, reason: [], details: 'x' }), { message: '', reason: '' });
    assert.equal((denied({ message: 'x'.repeat(20_000) }) as { message: string }).message.length, 16_385);
  });
});

describe('WebhookDenial', () => {
  const denied = 'admission webhook "w" denied the request';
  const ROWS: readonly (readonly [object | undefined, number, string, string | undefined, number])[] = [
    [undefined, 400, `${denied} without explanation`, undefined, 400],
    [{ message: 'no' }, 400, `${denied}: no`, undefined, 400],
    [{ reason: 'Because' }, 400, `${denied}: Because`, 'Because', 400],
    [{ message: 'no', reason: 'Invalid', code: 402 }, 402, `${denied}: no`, 'Invalid', 402],
    [{ code: 200 }, 400, `${denied} without explanation`, undefined, 400],
    [{ code: 399 }, 400, `${denied} without explanation`, undefined, 400],
    [{ code: 599 }, 599, `${denied} without explanation`, undefined, 599],
    [{ code: 700 }, 500, `${denied} without explanation`, undefined, 700],
  ];
  for (const [status, code, message, reason, given] of ROWS) {
    it(`tells ${JSON.stringify(status)}`, () => {
      const denial = new WebhookDenial('w', status);
      const body = denial.body();
      assert.deepEqual(
        [denial.code, body.code, body.message, body.reason, denial.given],
        [code, code, message, reason, given],
      );
    });
  }

  it('passes details on', () => {
    const details = { name: 'n', causes: [{ message: 'm' }] };
    assert.deepEqual(new WebhookDenial('w', { details }).body().details, details);
  });
});
