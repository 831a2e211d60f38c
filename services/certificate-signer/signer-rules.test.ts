import assert from 'node:assert/strict';
import { sequence } from '../machinery/pki/der.js';
import type { AlternativeNames, SigningRequest } from '../machinery/pki/signing-request.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { kindOf, refusal, validity, type SignerKind } from './signer-rules.js';

const NONE: AlternativeNames = { dns: [], ip: [], email: [], uri: [] };

interface Parts {
  readonly organizations?: readonly string[];
  readonly commonName?: string;
  readonly names?: Partial<AlternativeNames>;
  readonly usages?: readonly string[];
}

const CLIENT = ['digital signature', 'key encipherment', 'client auth'];
const SERVER = ['digital signature', 'key encipherment', 'server auth'];

function judge(kind: SignerKind, defaults: Parts, parts: Parts): string | undefined {
  const { organizations = [], commonName = '', names = {}, usages = [] } = { ...defaults, ...parts };
  const alternativeNames = { ...NONE, ...names };
  const request: SigningRequest = {
    subject: sequence(),
    publicKey: Buffer.of(),
    commonName,
    organizations,
    alternativeNames,
  };
  return refusal(kind, { request, usages });
}

const NODE: Parts = { organizations: ['system:nodes'], commonName: 'system:node:a' };
const CASES: Readonly<
  Record<
    SignerKind,
    { readonly good: Parts; readonly others: readonly (readonly [string, Parts, RegExp | undefined])[] }
  >
> = {
  apiServerClient: {
    good: { commonName: 'alice', usages: CLIENT },
    others: [
      ['client auth alone', { usages: ['client auth'] }, undefined],
      ['any subject', { organizations: ['a', 'b'], commonName: '' }, undefined],
      ['alternative names', { names: { dns: ['a'], ip: ['1.2.3.4'], email: ['a@b'], uri: ['u:r'] } }, undefined],
      ['no client auth', { usages: ['digital signature', 'key encipherment'] }, /must include "client auth"/],
      ['no usages', { usages: [] }, /must include "client auth"/],
      ['server auth as well', { usages: [...CLIENT, 'server auth'] }, /"server auth" is not allowed/],
      ['cert sign as well', { usages: [...CLIENT, 'cert sign'] }, /"cert sign" is not allowed/],
    ],
  },
  apiServerClientNodeAgent: {
    good: { ...NODE, usages: CLIENT },
    others: [
      ['the usages in another order', { usages: [...CLIENT].reverse() }, undefined],
      ['another organization', { organizations: ['system:masters'] }, /organization is not system:nodes/],
      [
        'a second organization',
        { organizations: ['system:nodes', 'system:masters'] },
        /organization is not system:nodes/,
      ],
      ['no organization', { organizations: [] }, /organization is not system:nodes/],
      ['another user', { commonName: 'alice' }, /common name does not begin with system:node:/],
      ['a DNS name', { names: { dns: ['a'] } }, /^DNS subjectAltNames are not allowed/],
      ['an address', { names: { ip: ['1.2.3.4'] } }, /^IP subjectAltNames are not allowed/],
      ['an email address', { names: { email: ['a@b'] } }, /^Email subjectAltNames are not allowed/],
      ['a URI', { names: { uri: ['u:r'] } }, /^URI subjectAltNames are not allowed/],
      ['one usage less', { usages: CLIENT.slice(1) }, /usages did not match \[digital signature, key enc/],
      ['one usage more', { usages: [...CLIENT, 'server auth'] }, /usages did not match/],
      ['usages of a server', { usages: SERVER }, /usages did not match/],
    ],
  },
  nodeAgentServing: {
    good: { ...NODE, names: { dns: ['a'] }, usages: SERVER },
    others: [
      ['an address alone', { names: { ip: ['::1'] } }, undefined],
      ['the usages of the specification', { usages: CLIENT }, undefined],
      ['no names', { names: {} }, /DNS or IP subjectAltName is required/],
      ['an email address', { names: { dns: ['a'], email: ['a@b'] } }, /^Email subjectAltNames are not allowed/],
      ['a URI', { names: { dns: ['a'], uri: ['u:r'] } }, /^URI subjectAltNames are not allowed/],
      ['another organization', { organizations: ['people'] }, /organization is not system:nodes/],
      ['another user', { commonName: 'node:a' }, /common name does not begin with system:node:/],
      ['both usages', { usages: [...SERVER, 'client auth'] }, /usages did not match \[digital signature, key enc/],
      ['one usage less', { usages: SERVER.slice(1) }, /usages did not match/],
    ],
  },
  legacyUnknown: {
    good: {},
    others: [['anything', { usages: ['any', 'cert sign'], names: { uri: ['u:r'] } }, undefined]],
  },
};

for (const [kind, { good, others }] of Object.entries(CASES) as [SignerKind, (typeof CASES)[SignerKind]][]) {
  describe(`the signer ${kind}`, () => {
    it('signs what it is for', () => assert.equal(judge(kind, good, {}), undefined));
    for (const [what, parts, why] of others) {
      it(`${why === undefined ? 'signs' : 'refuses'} a request with ${what}`, () => {
        const found = judge(kind, good, parts);
        if (why === undefined) assert.equal(found, undefined);
        else assert.match(found ?? '', why);
      });
    }
  });
}

describe('names of signers', () => {
  it('are those of the vocabulary', () => {
    const words = vocabulary('kubernetes');
    assert.equal(kindOf('kubernetes.io/kube-apiserver-client', words), 'apiServerClient');
    assert.equal(kindOf('kubernetes.io/kube-apiserver-client-kubelet', words), 'apiServerClientNodeAgent');
    assert.equal(kindOf('kubernetes.io/kubelet-serving', words), 'nodeAgentServing');
    assert.equal(kindOf('kubernetes.io/legacy-unknown', words), 'legacyUnknown');
    for (const other of ['example.com/signer', '', 'kubernetes.io/other'])
      assert.equal(kindOf(other, words), undefined);
  });
});

describe('the validity of a certificate', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  const [DAY, YEAR] = [24 * HOUR, 365 * 24 * HOUR];
  const spanOf = (
    askedSeconds: number | undefined,
    mostMs: number,
    authorityEnds = NOW + 10 * YEAR,
  ): readonly [number, number] | undefined => {
    const found = validity(NOW, { askedSeconds, mostMs, authorityEnds });
    return found === undefined ? undefined : [found.from.getTime() - NOW, found.to.getTime() - NOW];
  };

  it('is what is allowed, from five minutes ago', () =>
    assert.deepEqual(spanOf(undefined, YEAR), [-5 * MINUTE, YEAR - 5 * MINUTE]));
  it('is what is asked, where that is less', () =>
    assert.deepEqual(spanOf(DAY / 1000, YEAR), [-5 * MINUTE, DAY - 5 * MINUTE]));
  it('is no more than allowed', () => assert.deepEqual(spanOf(YEAR / 1000, DAY), [-5 * MINUTE, DAY - 5 * MINUTE]));
  it('is whole from now on where it is short', () => {
    assert.deepEqual(spanOf(600, YEAR), [-5 * MINUTE, 10 * MINUTE]);
    assert.deepEqual(spanOf((8 * HOUR - 1000) / 1000, YEAR), [-5 * MINUTE, 8 * HOUR - 1000]);
    assert.deepEqual(spanOf((8 * HOUR) / 1000, YEAR), [-5 * MINUTE, 8 * HOUR - 5 * MINUTE]);
  });
  it('ends with the authority', () => {
    assert.deepEqual(spanOf(undefined, YEAR, NOW + DAY), [-5 * MINUTE, DAY]);
    assert.deepEqual(spanOf(600, YEAR, NOW + MINUTE), [-5 * MINUTE, MINUTE]);
    assert.equal(spanOf(600, YEAR, NOW), undefined);
    assert.equal(spanOf(600, YEAR, NOW - DAY), undefined);
  });
});
