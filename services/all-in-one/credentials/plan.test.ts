import assert from 'node:assert/strict';
import { issueAuthority, issueLeaf, newKey, publicHalf, type Authority } from '../../machinery/pki/issue.js';
import { isEmpty, planOf, type Texts } from './plan.js';

const NOW = new Date('2030-06-01T00:00:00Z');
const daysLater = (days: number): Date => new Date(NOW.getTime() + days * 24 * 3_600_000);

const HOSTS = ['localhost', '127.0.0.1', '::1', 'a.default.svc'];
const WANTED = {
  frontProxy: { subject: 'CN=front-proxy-client', hosts: [] },
  serving: { subject: 'CN=server', hosts: HOSTS },
  admin: { subject: 'O=group\nCN=admin', hosts: [] },
  controllers: { subject: 'CN=system:controllers', hosts: [] },
};

describe('planOf()', () => {
  let authority: Authority;
  let complete: Texts;

  const serving = async (hosts: readonly string[], by: Authority, now: Date): Promise<Texts> => {
    const key = await newKey();
    const cert = issueLeaf({ key, commonName: 'server', hosts, usage: 'serverAuth' }, by, now);
    return { servingKey: key, servingCert: cert };
  };
  const newAuthority = async (now: Date): Promise<Authority> => {
    const key = await newKey();
    return { key, cert: issueAuthority({ key, commonName: 'ca', previous: undefined }, now) };
  };

  before(async () => {
    authority = await newAuthority(NOW);
    const adminKey = await newKey();
    const admin = {
      key: adminKey,
      organization: 'group',
      commonName: 'admin',
      hosts: [],
      usage: 'clientAuth',
    } as const;
    const controllersKey = await newKey();
    const controllers = { key: controllersKey, commonName: 'system:controllers', hosts: [], usage: 'clientAuth' } as const; // prettier-ignore
    const serviceAccountKey = await newKey();
    const [proxies, frontProxyKey] = [await newAuthority(NOW), await newKey()];
    const frontProxy = { key: frontProxyKey, commonName: 'front-proxy-client', hosts: [], usage: 'clientAuth' } as const; // prettier-ignore
    complete = {
      frontProxyCa: proxies.cert,
      frontProxyKey,
      frontProxyCert: issueLeaf(frontProxy, proxies, NOW),
      caKey: authority.key,
      caCert: authority.cert,
      ...(await serving(HOSTS, authority, NOW)),
      adminKey,
      adminCert: issueLeaf(admin, authority, NOW),
      controllersKey,
      controllersCert: issueLeaf(controllers, authority, NOW),
      serviceAccountKey,
      serviceAccountPublic: publicHalf(serviceAccountKey),
    };
  });

  const without = (...files: (keyof Texts)[]): Texts =>
    Object.fromEntries(Object.entries(complete).filter(([file]) => !files.includes(file as keyof Texts)));

  it('makes everything in an empty directory', () => {
    const plan = planOf({}, WANTED, NOW);
    assert.equal(plan.authority?.how, 'new');
    assert.deepEqual(Object.keys(plan.leaves), ['serving', 'admin', 'controllers']);
    assert.equal(plan.serviceAccount, 'pair');
    assert.equal(plan.frontProxy, 'no authority yet');
  });

  it("makes the front proxy's certificate anew when it does not fit its authority, or ends", () => {
    for (const file of ['frontProxyCa', 'frontProxyKey', 'frontProxyCert'] as const) {
      const { frontProxy, leaves } = planOf(without(file), WANTED, NOW);
      assert.deepEqual([frontProxy !== undefined, leaves], [true, {}]);
    }
    assert.equal(planOf({ ...complete, frontProxyCa: authority.cert }, WANTED, NOW).frontProxy, 'made by another authority'); // prettier-ignore
    assert.notEqual(planOf(complete, WANTED, daysLater(336)).frontProxy, undefined);
  });

  it('makes nothing when all is there', () => {
    assert.deepEqual(planOf(complete, WANTED, NOW), { leaves: {} });
    assert.equal(isEmpty(planOf(complete, WANTED, NOW)), true);
  });

  it('makes leaves anew when they have less than 30 days left, and only then', () => {
    assert.deepEqual(planOf(complete, WANTED, daysLater(334)).leaves, {});
    assert.deepEqual(Object.keys(planOf(complete, WANTED, daysLater(336)).leaves), ['serving', 'admin', 'controllers']);
  });

  it('makes leaves anew when the clock was wrong at the time and they are not valid yet', () => {
    assert.deepEqual(Object.keys(planOf(complete, WANTED, daysLater(-2)).leaves), ['serving', 'admin', 'controllers']);
  });

  it('makes the serving certificate anew when it lacks a name or an address', () => {
    for (const host of ['other', '10.0.0.1', 'fd00::1']) {
      const wanted = { ...WANTED, serving: { subject: 'CN=server', hosts: [...HOSTS, host] } };
      assert.deepEqual(planOf(complete, wanted, NOW).leaves, { serving: `not valid for ${host}` });
    }
  });

  it('makes a leaf anew when another authority of the same name made it', async () => {
    const other = await serving(HOSTS, await newAuthority(NOW), NOW);
    assert.deepEqual(planOf({ ...complete, ...other }, WANTED, NOW).leaves, { serving: 'made by another authority' });
  });

  it('makes a leaf anew when only its key was written, or either is unreadable', async () => {
    const fault = (texts: Texts): string | undefined => planOf(texts, WANTED, NOW).leaves.serving;
    assert.equal(fault({ ...complete, servingKey: await newKey() }), 'certificate and key do not belong together');
    assert.equal(fault({ ...complete, servingCert: 'nonsense' }), 'unreadable');
    assert.equal(fault({ ...complete, servingKey: '' }), 'unreadable');
    assert.equal(fault(without('servingKey')), 'missing');
    assert.equal(fault(without('servingCert')), 'missing');
  });

  it('makes the leaf anew whose subject is another', () => {
    const wanted = { ...WANTED, admin: { subject: 'O=others\nCN=admin', hosts: [] } };
    assert.deepEqual(planOf(complete, wanted, NOW).leaves, { admin: 'made for another subject' });
  });

  it('keeps the key of an authority whose certificate ends soon or is missing', () => {
    assert.equal(planOf(complete, WANTED, daysLater(3640)).authority?.how, 'renew');
    assert.equal(planOf(without('caCert'), WANTED, NOW).authority?.how, 'renew');
  });

  it('needs no authority key as long as there is nothing to sign', () => {
    assert.deepEqual(planOf(without('caKey'), WANTED, NOW), { leaves: {} });
    assert.throws(() => planOf(without('caKey', 'adminCert'), WANTED, NOW), {
      message: 'Cannot sign without ca.key: admin missing',
    });
  });

  it('never replaces an authority or a service account key that it cannot use', async () => {
    assert.throws(() => planOf({ ...complete, caKey: 'nonsense' }, WANTED, NOW), /Cannot read the key in ca\.key/);
    assert.throws(() => planOf({ ...complete, caCert: 'nonsense' }, WANTED, NOW), /Cannot read .* ca\.crt/);
    const other = { ...complete, caKey: await newKey() };
    assert.throws(() => planOf(other, WANTED, NOW), { message: 'ca.crt and ca.key do not belong together' });
    assert.throws(() => planOf({ ...complete, serviceAccountKey: 'x' }, WANTED, NOW), /service-account\.key/);
  });

  it('makes the public half of a service account key that is there', () => {
    assert.equal(planOf(without('serviceAccountPublic'), WANTED, NOW).serviceAccount, 'public');
  });
});
