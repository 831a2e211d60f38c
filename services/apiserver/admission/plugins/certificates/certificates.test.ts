import assert from 'node:assert/strict';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Attributes, Decision } from '../../../authorization/authorizer.js';
import { EC_REQUEST, MASTERS_REQUESTS, pem } from '../../../registry/validation/testing/signing-requests.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { ask } from '../../testing/pods.js';
import { certificateApproval } from './approval.js';
import { certificateSigning } from './signing.js';
import { certificateSubjectRestriction } from './subject-restriction.js';

const words = vocabulary('platform');
const GROUP = words.groups.certificates;
const REQUESTS = {
  group: GROUP,
  version: 'v1',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
};

const csr = (spec: object, status: object = {}): ApiObject => ({
  kind: 'CertificateSigningRequest',
  apiVersion: `${GROUP}/v1`,
  metadata: { name: 'r' },
  spec,
  status,
});
const SIGNER = 'example.com/a';
const old = csr({ signerName: SIGNER });

/** An authorizer that allows `verb` on one name, and the questions it was asked. */
function rights(allowed: string): { readonly asked: Attributes[]; readonly decide: () => Decision } {
  const asked: Attributes[] = [];
  const decide = (...[, attributes]: readonly unknown[]): Decision => {
    const it = attributes as Attributes;
    asked.push(it);
    const is = it.kind === 'resource' && `${it.verb} ${it.name}` === allowed;
    return { decision: is ? 'allow' : 'noOpinion', reason: '' };
  };
  return { asked, decide };
}

const answer = async (
  make: (d: { vocabulary: typeof words; decide: () => Decision }) => AdmissionPlugin,
  allowed: string,
  object: ApiObject,
  said: Partial<AdmissionRequest>,
): Promise<string> => {
  const plugin = make({ vocabulary: words, decide: rights(allowed).decide });
  return (await ask(plugin, object, { operation: 'UPDATE', oldObject: old, ...said }, REQUESTS)).why;
};

const NO = 'certificatesigningrequests.certificates.platform.io "r" is forbidden: ';
const mayNot = (verb: string, signer = SIGNER): string =>
  `${NO}user not permitted to ${verb} requests with signerName "${signer}"`;

describe('certificateApproval()', () => {
  const approved = csr({ signerName: 'example.com/b' }, { conditions: [{ type: 'Approved', status: 'True' }] });
  for (const [what, allowed, said, why] of [
    ['refuses without a right', '', { subresource: 'approval' }, mayNot('approve')],
    ['takes the name of the signer', `approve ${SIGNER}`, { subresource: 'approval' }, ''],
    ['takes the domain of the signer', 'approve example.com/*', { subresource: 'approval' }, ''],
    ['asks for the signer that is stored', 'approve example.com/b', { subresource: 'approval' }, mayNot('approve')],
    ['asks for the right to approve', `sign ${SIGNER}`, { subresource: 'approval' }, mayNot('approve')],
    ['takes no other domain', 'approve other.com/*', { subresource: 'approval' }, mayNot('approve')],
    ['leaves the status alone', '', { subresource: 'status' }, ''],
    ['leaves the request alone', '', {}, ''],
    ['leaves new requests alone', '', { operation: 'CREATE', oldObject: undefined }, ''],
  ] as const) {
    it(what, async () => assert.equal(await answer(certificateApproval, allowed, approved, said), why));
  }

  it('asks about signers of the group, by both names', async () => {
    const { asked, decide } = rights('');
    const plugin = certificateApproval({ vocabulary: words, decide });
    await ask(plugin, approved, { operation: 'UPDATE', oldObject: old, subresource: 'approval' }, REQUESTS);
    const signer = {
      kind: 'resource',
      verb: 'approve',
      group: GROUP,
      version: '*',
      resource: 'signers',
      subresource: '',
    };
    assert.deepEqual(
      asked,
      [SIGNER, 'example.com/*'].map((name) => ({ ...signer, namespace: '', name })),
    );
  });
});

describe('certificateSigning()', () => {
  const signed = csr({ signerName: 'example.com/b' }, { certificate: 'Y2VydA==' });
  const failed = csr({ signerName: SIGNER }, { conditions: [{ type: 'Failed', status: 'True' }] });
  for (const [what, allowed, object, said, why] of [
    ['refuses a certificate without a right', '', signed, { subresource: 'status' }, mayNot('sign')],
    ['takes the name of the signer', `sign ${SIGNER}`, signed, { subresource: 'status' }, ''],
    ['takes the domain of the signer', 'sign example.com/*', signed, { subresource: 'status' }, ''],
    ['asks for the right to sign', `approve ${SIGNER}`, signed, { subresource: 'status' }, mayNot('sign')],
    ['asks for the signer that is stored', 'sign example.com/b', signed, { subresource: 'status' }, mayNot('sign')],
    ['asks for nothing where there is none', '', failed, { subresource: 'status' }, ''],
    ['asks for nothing where it stays', '', signed, { subresource: 'status', oldObject: signed }, ''],
    ['minds when it goes', '', old, { subresource: 'status', oldObject: signed }, mayNot('sign', 'example.com/b')],
    ['leaves other parts alone', '', signed, { subresource: 'approval' }, ''],
  ] as const) {
    it(what, async () => assert.equal(await answer(certificateSigning, allowed, object, said), why));
  }
});

describe('certificateSubjectRestriction()', () => {
  const client = words.signers.apiServerClient;
  const masters = `${NO}use of ${client} signer with system:masters group is not allowed`;
  for (const [what, signerName, request, why] of [
    ['refuses the group', client, pem(MASTERS_REQUESTS[0]), masters],
    ['refuses it within a part of the name', client, pem(MASTERS_REQUESTS[1]), masters],
    ['takes other groups', client, pem(EC_REQUEST), ''],
    ['takes it for other signers', SIGNER, pem(MASTERS_REQUESTS[0]), ''],
    ['refuses what it cannot read', client, pem('MAA='), `${NO}failed to parse CSR: asn1: `],
    ['refuses what is no request', client, '', `${NO}failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`],
  ] as const) {
    it(what, async () => {
      const plugin = certificateSubjectRestriction({ vocabulary: words });
      const got = (await ask(plugin, csr({ signerName, request }), {}, REQUESTS)).why;
      assert.equal(got.slice(0, why === '' ? undefined : why.length), why);
    });
  }

  it('says nothing to changes', async () => {
    const object = csr({ signerName: client, request: pem(MASTERS_REQUESTS[0]) });
    const plugin = certificateSubjectRestriction({ vocabulary: words });
    assert.equal((await ask(plugin, object, { operation: 'UPDATE', oldObject: object }, REQUESTS)).why, '');
  });
});
