import assert from 'node:assert/strict';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { Live } from '../client/rest/resource-type.js';
import type { Controller } from '../controllers/controller.js';
import { FakeCluster } from '../controllers/testing/fake-cluster.js';
import { OpenSsl } from '../machinery/pki/testing/openssl.js';
import type { CertificateSigningRequest } from '../machinery/types/generated/certificates.v1.js';
import type { SubjectAccessReview } from '../machinery/types/generated/authorization.v1.js';
import { vocabulary } from '../machinery/vocabulary/vocabulary.js';
import { openApproving } from './approving.js';
import { condition, requestText, signingRequest, type AskedOf } from './testing/signing-requests.js';

const words = vocabulary('platform');
const { certificateSigningRequests: type, subjectAccessReviews } = builtInTypes(words);
const signerName = words.signers.apiServerClientNodeAgent;
const USAGES = ['key encipherment', 'digital signature', 'client auth'];
const NODE = '/O=system:nodes/CN=system:node:a';
const BOOTSTRAP = {
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers'],
  uid: '7',
  extra: { a: ['b'] },
};
const never = new AbortController().signal;

describe('the controller that approves requests', () => {
  const openssl = new OpenSsl();
  after(() => openssl.remove());
  let cluster: FakeCluster;
  let controller: Controller;
  /** Subresources that the requester may create. */
  let allowed: Set<string>;
  let reviews: SubjectAccessReview['spec'][];
  beforeEach(() => {
    [cluster, allowed, reviews] = [new FakeCluster(), new Set(), []];
    cluster.answer(subjectAccessReviews, (review) => {
      reviews.push(review.spec);
      return { ...review, status: { allowed: allowed.has(review.spec?.resourceAttributes?.subresource ?? '') } };
    });
    controller = openApproving({ concurrentCertificateSigningSyncs: 5 }, cluster.deps());
  });

  const make = (spec: object = {}, asked: AskedOf = {}, conditions: readonly object[] = []): void => {
    const text = requestText(openssl, { subject: NODE, ...asked });
    const whole = { signerName, usages: USAGES, ...BOOTSTRAP, ...spec };
    cluster.put(type, signingRequest('r', text, { spec: whole, conditions }));
  };
  const found = (): Live<CertificateSigningRequest> => cluster.get(type, 'r') ?? assert.fail('it is gone');
  const rightsAsked = (): readonly (string | undefined)[] => reviews.map((it) => it?.resourceAttributes?.subresource);

  it('approves a client of a node whose requester has the right, after a review of just that', async () => {
    allowed.add('nodeclient');
    make();
    await cluster.settle(controller);
    const [approved, ...others] = found().status?.conditions ?? [];
    assert.deepEqual([approved?.type, approved?.status, approved?.reason], ['Approved', 'True', 'AutoApproved']);
    assert.match(approved?.message ?? '', /^Approved automatically: a client certificate for a node's agent$/);
    assert.deepEqual(others, []);
    const { group } = type;
    const attributes = { group, resource: 'certificatesigningrequests', subresource: 'nodeclient', verb: 'create', version: '*' }; // prettier-ignore
    const { username, ...requester } = BOOTSTRAP;
    assert.deepEqual(reviews, [{ user: username, ...requester, resourceAttributes: attributes }]);
    assert.deepEqual(cluster.asked, ['create subjectaccessreviews ', 'update certificatesigningrequests/approval r']);
  });

  it('asks for the narrower right first where a node renews its own, and then for the other', async () => {
    const username = 'system:node:a';
    allowed.add('selfnodeclient');
    make({ username });
    await cluster.settle(controller);
    assert.deepEqual(rightsAsked(), ['selfnodeclient']);
    assert.match(found().status?.conditions?.[0]?.message ?? '', /renews its own/);

    allowed = new Set(['nodeclient']);
    reviews.length = 0;
    make({ username });
    await cluster.settle(controller);
    assert.deepEqual(rightsAsked(), ['selfnodeclient', 'nodeclient']);
    assert.match(found().status?.conditions?.[0]?.message ?? '', /a client certificate for a node's agent/);
  });

  it('does not take the right to renew for one to get another name', async () => {
    allowed.add('selfnodeclient');
    make({ username: 'system:node:b' });
    assert.notEqual(await controller.reconcile('r', never), undefined);
    assert.deepEqual(rightsAsked(), ['nodeclient']);
    assert.deepEqual(found().status?.conditions, []);
  });

  it('looks again later whether a requester has got the right', async () => {
    make();
    assert.deepEqual(await controller.reconcile('r', never), { againInMs: 10_000 });
    allowed.add('nodeclient');
    await cluster.settle(controller);
    assert.equal(found().status?.conditions?.[0]?.type, 'Approved');
  });

  for (const [what, spec, asked] of [
    ['another signer', { signerName: words.signers.apiServerClient }, {}],
    ['a signer of servers', { signerName: words.signers.nodeAgentServing }, { names: 'DNS:a' }],
    ['a signer of others', { signerName: 'example.com/signer' }, {}],
    ['another organization', {}, { subject: '/O=system:masters/CN=system:node:a' }],
    ['a second organization', {}, { subject: '/O=system:nodes/O=system:masters/CN=system:node:a' }],
    ['no organization', {}, { subject: '/CN=system:node:a' }],
    ['the name of no node', {}, { subject: '/O=system:nodes/CN=alice' }],
    ['a DNS name', {}, { names: 'DNS:a' }],
    ['an address', {}, { names: 'IP:10.0.0.1' }],
    ['an email address', {}, { names: 'email:a@b.c' }],
    ['a URI', {}, { names: 'URI:u:r' }],
    ['one usage less', { usages: USAGES.slice(1) }, {}],
    ['one usage more', { usages: [...USAGES, 'server auth'] }, {}],
    ['a text that is no request', { request: 'eA==' }, {}],
  ] as const) {
    it(`never approves a request with ${what}, whatever rights there are`, async () => {
      allowed = new Set(['nodeclient', 'selfnodeclient']);
      make(spec, asked);
      assert.equal(await controller.reconcile('r', never), undefined);
      assert.deepEqual(cluster.asked, []);
    });
  }

  for (const kind of ['Approved', 'Denied', 'Failed']) {
    it(`leaves a request alone that is ${kind}`, async () => {
      allowed.add('nodeclient');
      make({}, {}, [condition(kind)]);
      await cluster.settle(controller);
      assert.deepEqual(cluster.asked, []);
    });
  }

  it('leaves a request alone that has a certificate, or is gone', async () => {
    allowed.add('nodeclient');
    make();
    cluster.put(type, { ...found(), status: { certificate: 'eA==' } });
    await cluster.settle(controller);
    assert.equal(await controller.reconcile('gone', never), undefined);
    assert.deepEqual(cluster.asked, []);
  });

  it('leaves a request to its change when it was changed meanwhile; other failures come again', async () => {
    allowed.add('nodeclient');
    make();
    for (const reason of ['Conflict', 'NotFound'] as const) {
      cluster.refuse(/^update/, reason);
      assert.equal(await controller.reconcile('r', never), undefined);
    }
    cluster.refuse(/^update/, 'InternalError');
    await assert.rejects(controller.reconcile('r', never), /InternalError/);
    cluster.refuse(/^create subjectaccessreviews/, 'InternalError');
    await assert.rejects(controller.reconcile('r', never), /InternalError/);
  });
});
