import assert from 'node:assert/strict';
import type { Change } from '../testing/cases.js';
import { changed, KindUnderTest } from '../testing/cases.js';
import { CERTIFICATE, EC_REQUEST, pem } from '../testing/signing-requests.js';
import { LABEL, SUBDOMAIN, TOO_LONG } from '../testing/words.js';

describe('validation of requests for certificates', () => {
  const group = 'certificates.k8s.io';
  const kind = new KindUnderTest({
    group,
    resource: 'certificatesigningrequests',
    type: `${group}/v1.CertificateSigningRequest`,
  });
  const request = {
    apiVersion: `${group}/v1`,
    kind: 'CertificateSigningRequest',
    metadata: { name: 'alice' },
    spec: {
      request: pem(EC_REQUEST),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth', 'digital signature'],
      expirationSeconds: 600,
    },
  };
  const USAGES =
    '"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"';
  const S = 'spec.signerName';
  kind.acceptsManifest('a request', request);
  kind.accepts(request, [{ [S]: `example.com/${'a'.repeat(63)}.b`, 'spec.expirationSeconds': undefined }]);
  kind.refuses(request, [
    [
      { 'spec.request': 'Yg==' },
      'spec.request',
      'Invalid value: []byte{0x62}: PEM block type must be CERTIFICATE REQUEST',
    ],
    [
      { 'spec.request': undefined },
      'spec.request',
      'Invalid value: []byte{}: PEM block type must be CERTIFICATE REQUEST',
    ],
    [{ 'spec.usages': [] }, 'spec.usages', 'Required value'],
    [
      { 'spec.usages': ['root', 'any', 'any'] },
      'spec.usages[0]',
      `Unsupported value: "root": supported values: ${USAGES}`,
      'spec.usages[2]',
      'Duplicate value: "any"',
    ],
    [{ [S]: '' }, S, 'Required value'],
    [
      { [S]: 'kubernetes.io/legacy-unknown' },
      S,
      'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
    ...['signer', 'a.b/c/d'].map((name): [Change, string, string] => [
      { [S]: name },
      S,
      `Invalid value: "${name}": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
    ]),
    [{ [S]: 'local/x' }, S, 'Invalid value: "local": should be a domain with at least two segments separated by dots'],
    [{ [S]: 'A.b/x' }, S, `Invalid value: "A.b": validating label "A": ${LABEL}`],
    [{ [S]: 'a.b/x.Y' }, S, `Invalid value: "x.Y": validating label "Y": ${SUBDOMAIN}`],
    [{ [S]: `${'a.'.repeat(126)}aa/x` }, S, TOO_LONG(253)],
    [{ [S]: `a.b/${'c.'.repeat(300)}c` }, S, TOO_LONG(571)],
    [
      { 'spec.expirationSeconds': 599 },
      'spec.expirationSeconds',
      'Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    ],
  ]);

  const approved = { type: 'Approved', status: 'True', reason: 'x' };
  const decided = changed(request, { 'status.conditions': [approved] });
  const C = 'status.conditions';
  kind.refusesPart('status', decided, [
    [{ [`${C}.1`]: { type: '', status: 'True' } }, `${C}[1].type`, 'Required value'],
    [{ [`${C}.1`]: { type: 'Checked', status: '' } }, `${C}[1].status`, 'Required value'],
    [
      { [`${C}.1`]: { type: 'Checked', status: 'Yes' } },
      `${C}[1].status`,
      'Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
    ],
    [
      { [`${C}.1`]: { type: 'Failed', status: 'False' } },
      `${C}[1].status`,
      'Unsupported value: "False": supported values: "True"',
    ],
    [
      { [`${C}.1`]: { type: 'Denied', status: 'True' } },
      `${C}[1].type`,
      'Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
      C,
      'Forbidden: updates may not add a condition of type "Denied"',
    ],
    [
      { [`${C}.1`]: { type: 'Checked', status: 'True' }, [`${C}.2`]: { type: 'Checked', status: 'True' } },
      `${C}[2].type`,
      'Duplicate value: "Checked"',
    ],
    [{ [C]: [] }, C, 'Forbidden: updates may not remove a condition of type "Approved"'],
    [{ [`${C}.0.reason`]: 'y' }, C, 'Forbidden: updates may not modify a condition of type "Approved"'],
    [
      { 'status.certificate': Buffer.from('hello').toString('base64') },
      'status.certificate',
      'Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ],
    [
      { 'status.certificate': pem(EC_REQUEST) },
      'status.certificate',
      'Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ],
    [
      {
        'status.certificate': Buffer.from(
          `-----BEGIN CERTIFICATE-----\na: b\n\n${CERTIFICATE}\n-----END CERTIFICATE-----`,
        ).toString('base64'),
      },
      'status.certificate',
      'Invalid value: "<certificate data>": no PEM block headers are permitted',
    ],
    [
      { 'status.certificate': pem('', 'CERTIFICATE') },
      'status.certificate',
      'Invalid value: "<certificate data>": found CERTIFICATE PEM block containing 0 certificates',
    ],
    [
      { 'status.certificate': pem(`${CERTIFICATE}${Buffer.from('\x30\0\0').toString('base64')}`, 'CERTIFICATE') },
      'status.certificate',
      'Invalid value: "<certificate data>": x509: malformed certificate',
    ],
    [
      { 'status.certificate': pem(EC_REQUEST, 'CERTIFICATE') },
      'status.certificate',
      'Invalid value: "<certificate data>": x509: malformed certificate',
    ],
  ]);

  it('lets the signer add the certificate, once', () => {
    const certificate = pem(CERTIFICATE, 'CERTIFICATE');
    const signed = changed(decided, {
      'status.certificate': certificate,
      [`${C}.1`]: { type: 'Checked', status: 'False' },
    });
    assert.deepEqual(kind.onPart('status', signed, decided), []);
    const resigned = changed(signed, {
      'status.certificate': Buffer.concat([Buffer.from('\n'), Buffer.from(certificate, 'base64')]).toString('base64'),
    });
    assert.deepEqual(
      kind.onPart('status', resigned, signed).map(({ message }) => message),
      ['Forbidden: updates may not modify existing certificate content'],
    );
  });

  for (const [what, conditions, refused] of [
    ['a request that is pending', [], true],
    ['one that failed', [{ type: 'Failed', status: 'True' }], true],
    ['one that was denied', [{ type: 'Denied', status: 'True' }], true],
    ['one with both decisions', [approved, { type: 'Denied', status: 'True' }], true],
    ['one that was approved', [approved], false],
  ] as const) {
    it(`${refused ? 'has no' : 'takes a'} certificate for ${what}`, () => {
      const before = changed(request, { [C]: conditions });
      const signed = changed(before, { 'status.certificate': pem(CERTIFICATE, 'CERTIFICATE') });
      const problems = kind.onPart('status', signed, before).map(({ field, message }) => [field, message]);
      assert.deepEqual(
        problems,
        refused ? [['status.certificate', 'Forbidden: the request has not been approved']] : [],
      );
    });
  }

  it('leaves alone what was wrong before there was a rule', () => {
    const both = changed(decided, { [`${C}.1`]: { type: 'Denied', status: 'True' }, [`${C}.2`]: approved });
    assert.deepEqual(
      kind.onPart('status', changed(both, { [`${C}.3`]: { type: 'Checked', status: 'True' } }), both),
      [],
    );
  });
});
