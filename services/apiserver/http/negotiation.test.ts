import assert from 'node:assert/strict';
import { StatusError } from '../../machinery/meta/status.js';
import { mediaRanges, negotiate, negotiateForm, negotiatePlain, type Offer } from './negotiation.js';

const PROTOBUF = 'application/vnd.platform.protobuf';
const KUBECTL_PROTOBUF = 'application/vnd.kubernetes.protobuf';
const object: Offer = { of: 'object', protobuf: true };
const list: Offer = { of: 'list', protobuf: true };
const watch: Offer = { of: 'watch', protobuf: true };
const whole: Offer = { of: 'object', protobuf: true, whole: true };
const custom: Offer = { of: 'object', protobuf: false };
const as = (kind: string, { version = 'v1', group = 'meta.platform.io', type = 'application/json' } = {}): string =>
  `${type};as=${kind};g=${group};v=${version}`;

const refused = (run: () => unknown, message: RegExp): void => {
  assert.throws(run, (err) => err instanceof StatusError && err.code === 406 && message.test(err.message));
};

describe('negotiateForm()', () => {
  for (const accept of [as('Table'), as('PartialObjectMetadata'), as('PartialObjectMetadata', { type: PROTOBUF })]) {
    it(`refuses ${accept} where there is nothing but the object itself`, () => {
      negotiateForm(accept, object); // what is remembered of one offer is none of the other's
      refused(() => negotiateForm(accept, whole), /^only the following media types are accepted: application\/json, /);
    });
  }

  const cases: readonly (readonly [accept: string | undefined, offer: Offer, form: string])[] = [
    [undefined, object, 'object json application/json'],
    ['', object, 'object json application/json'],
    ['*/*', object, 'object json application/json'],
    ['application/*', object, 'object json application/json'],
    ['application/yaml', object, 'object yaml application/yaml'],
    ['Application/JSON', object, 'object json application/json'],
    ['application/json;charset=utf-8', object, 'object json application/json'],
    ['text/html, application/yaml;q=0.5, */*;q=0.1', object, 'object yaml application/yaml'],
    ['application/json;q=0, */*;q=0.5', object, 'object json application/json'],
    // Protobuf by either word, answered in that word
    [PROTOBUF, object, `object protobuf ${PROTOBUF}`],
    [KUBECTL_PROTOBUF, object, `object protobuf ${KUBECTL_PROTOBUF}`],
    [`${PROTOBUF}, application/json`, custom, 'object json application/json'],
    // tables, in the client's order
    [as('Table'), object, 'table meta.platform.io/v1 json application/json'],
    [as('Table', { version: 'v1beta1' }), list, 'table meta.platform.io/v1beta1 json application/json'],
    [as('Table', { group: 'meta.k8s.io' }), watch, 'table meta.k8s.io/v1 json application/json'],
    [as('Table', { type: 'application/yaml' }), object, 'table meta.platform.io/v1 yaml application/yaml'],
    [as('Table', { type: '*/*' }), object, 'table meta.platform.io/v1 json application/json'],
    [`${as('Table', { version: 'v2' })}, ${as('Table')}, application/json`, list, 'table meta.platform.io/v1 json application/json'], // prettier-ignore
    [`${as('Table', { group: 'example.com' })}, application/json`, list, 'object json application/json'],
    [`${as('Chart')}, application/json`, object, 'object json application/json'],
    ['application/json;as=Table, application/json', object, 'object json application/json'],
    ['application/json;g=meta.platform.io;v=v1, application/yaml', object, 'object yaml application/yaml'],
    [`${as('Table', { type: PROTOBUF })}, application/json`, list, 'object json application/json'],
    // partial objects
    [as('PartialObjectMetadata'), object, 'metadata meta.platform.io/v1 json application/json'],
    [as('PartialObjectMetadata'), watch, 'metadata meta.platform.io/v1 json application/json'],
    [as('PartialObjectMetadataList'), list, 'metadata meta.platform.io/v1 json application/json'],
    [as('PartialObjectMetadata', { type: PROTOBUF }), custom, `metadata meta.platform.io/v1 protobuf ${PROTOBUF}`],
    [`${as('PartialObjectMetadata')}, application/json`, list, 'object json application/json'],
    // the object itself and nothing else
    [`${as('Table')}, ${as('PartialObjectMetadata')}, application/json`, whole, 'object json application/json'],
    [PROTOBUF, whole, `object protobuf ${PROTOBUF}`],
    // streams
    ['application/json;stream=watch', watch, 'object json application/json'],
    [`${PROTOBUF};stream=watch`, watch, `object protobuf ${PROTOBUF}`],
    ['application/json;stream=other, application/json', watch, 'object json application/json'],
    ['application/yaml, application/json', watch, 'object json application/json'],
  ];
  for (const [accept, offer, expected] of cases) {
    it(`answers ${accept ?? 'no header'} about ${offer.protobuf ? '' : 'custom '}${offer.of} with ${expected}`, () => {
      const { view, apiVersion, encoding, type } = negotiateForm(accept, offer);
      assert.equal([view, apiVersion, encoding, type].filter((part) => part !== '').join(' '), expected);
    });
  }

  it('says what there is when there is nothing for the client', () => {
    refused(
      () => negotiateForm('image/png', object),
      /: application\/json, application\/yaml, \S+platform.protobuf, \S+$/,
    );
    refused(() => negotiateForm(PROTOBUF, custom), /: application\/json, application\/yaml$/);
    refused(() => negotiateForm('application/yaml', watch), /: application\/json;stream=watch, /);
    refused(() => negotiateForm(as('PartialObjectMetadata'), list), /only the following/);
    refused(() => negotiateForm(as('Table', { type: PROTOBUF }), object), /only the following/);
  });
});

describe('mediaRanges()', () => {
  it('remembers headers, but none that are long', () => {
    const long = `application/json;charset=${'x'.repeat(1_024)}`;
    assert.ok(mediaRanges('application/json') === mediaRanges('application/json'));
    assert.deepEqual(mediaRanges(long), mediaRanges(long));
    assert.ok(mediaRanges(long) !== mediaRanges(long));
  });
});

describe('negotiateForm(), asked again', () => {
  it('remembers its answers, but none to headers that are long', () => {
    const offer = { of: 'object', protobuf: true } as const;
    const long = `application/json;charset=${'x'.repeat(1_024)}`;
    assert.ok(negotiateForm('application/json', offer) === negotiateForm('application/json', offer));
    assert.deepEqual(negotiateForm(long, offer), negotiateForm(long, offer));
    assert.ok(negotiateForm(long, offer) !== negotiateForm(long, offer));
  });
});

describe('negotiate()', () => {
  it('gives JSON or YAML, by the order of the client', () => {
    assert.equal(negotiate('application/yaml, application/json'), 'application/yaml');
    assert.equal(negotiate(`${PROTOBUF}, application/yaml`), 'application/yaml');
    assert.equal(negotiate(undefined), 'application/json');
  });

  it('gives JSON to those who accept nothing but Protobuf', () =>
    assert.equal(negotiate(PROTOBUF), 'application/json'));

  it('goes on from views of objects to what the client accepts next', () =>
    assert.equal(negotiate(`${as('Table')}, application/yaml`), 'application/yaml'));

  it('refuses those who accept nothing but views of objects, or what nobody could answer', () => {
    const partial = as('PartialObjectMetadataList', { type: PROTOBUF });
    for (const accept of ['image/png', as('Chart'), as('Table'), `${as('Table')}, ${partial}`])
      refused(() => negotiate(accept), /application\/json/);
  });
});

describe('negotiatePlain()', () => {
  it('does not mind which view is asked for', () => {
    assert.equal(negotiatePlain(as('Table')), 'application/json');
    assert.equal(negotiatePlain(`image/png, ${as('Chart', { type: 'application/yaml' })}`), 'application/yaml');
    assert.equal(negotiatePlain(PROTOBUF), 'application/json');
  });

  it('refuses what nobody could answer', () => refused(() => negotiatePlain('image/png'), /application\/json/));
});
