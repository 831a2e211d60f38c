import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { UserInfo } from '../../request/request.js';
import { signingRequests } from './signing-requests.js';

const ALICE: UserInfo = { name: 'alice', uid: 'u1', groups: ['dev', 'qa'], extra: { scopes: ['read'] } };
const ASKED = { request: 'cmVx', signerName: 'example.com/signer', usages: ['client auth'] };
const LIES = { username: 'admin', uid: '0', groups: ['system:masters'], extra: { scopes: ['all'] } };

const request = (spec: object, status?: object): ApiObject => ({
  apiVersion: 'certificates.platform.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'r' },
  spec,
  ...(status === undefined ? {} : { status }),
});

describe('the strategy of signing requests', () => {
  const created = (object: ApiObject, by: UserInfo): ApiObject => {
    signingRequests.prepareForCreate?.(object, by, object.apiVersion);
    return object;
  };

  it('says who asks, whatever the body says', () => {
    const truth = { username: 'alice', uid: 'u1', groups: ['dev', 'qa'], extra: { scopes: ['read'] } };
    for (const lie of [{}, LIES]) {
      assert.deepEqual(created(request({ ...ASKED, ...lie }), ALICE)['spec'], { ...ASKED, ...truth });
    }
  });

  it('leaves nothing of the body where the author has none', () => {
    const spec = { ...ASKED, username: 'bob', groups: [] };
    assert.deepEqual(
      created(request({ ...ASKED, ...LIES }), { name: 'bob', uid: '', groups: [], extra: {} })['spec'],
      spec,
    );
  });

  it('takes no name of an attribute for something else', () => {
    const extra = Object.fromEntries([['__proto__', ['x']]]) as UserInfo['extra'];
    const { spec } = created(request(ASKED), { ...ALICE, extra }) as unknown as { spec: { extra: object } };
    assert.equal(JSON.stringify(spec.extra), '{"__proto__":["x"]}');
  });

  it('starts undecided', () => {
    const status = { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'Y2VydA==' };
    assert.deepEqual(created(request(ASKED, status), ALICE)['status'], {});
  });

  it('keeps what was asked for, and by whom', () => {
    const old = created(request(ASKED), ALICE);
    const next = request({ ...ASKED, ...LIES, signerName: 'example.com/other' });
    signingRequests.prepareForUpdate?.(next, old, next.apiVersion);
    assert.deepEqual(next['spec'], old['spec']);
  });
});
