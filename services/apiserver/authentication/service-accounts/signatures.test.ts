import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { Signatures } from './signatures.js';
import { TestKey } from './testing/tokens.js';

const ec = (namedCurve: string): TestKey => new TestKey(generateKeyPairSync('ec', { namedCurve }));
const KEYS = { rsa: TestKey.rsa(), p256: ec('P-256'), p384: ec('P-384'), p521: ec('P-521') };
type KeyName = keyof typeof KEYS;
const ALL = Object.values(KEYS).map(({ verifying }) => verifying);

const FITTING: Readonly<Record<KeyName, readonly string[]>> = {
  rsa: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  p256: ['ES256'],
  p384: ['ES384'],
  p521: ['ES512'],
};
const ALGORITHMS = Object.values(FITTING).flat();

describe('Signatures', () => {
  const signatures = new Signatures(ALL);

  for (const name of Object.keys(KEYS) as KeyName[]) {
    const key = KEYS[name];
    const header = (alg: string, kid = key.verifying.id): Record<string, unknown> => ({ alg, kid });

    it(`hold by ${name} with ${FITTING[name].join(', ')}, named or not`, async () => {
      for (const alg of FITTING[name]) {
        for (const kid of [key.verifying.id, 'nobody', '__proto__', '']) {
          assert.equal(
            await signatures.hold(await key.sign({}, { alg, kid }), header(alg, kid)),
            true,
            `${alg} ${kid}`,
          );
        }
      }
    });

    it(`do not hold by ${name} with any other algorithm, whatever it is called`, async () => {
      const token = await key.sign({});
      const others = ALGORITHMS.filter((alg) => !FITTING[name].includes(alg));
      for (const alg of [...others, 'HS256', 'none', 'None', '', 'EdDSA', 'constructor', '__proto__']) {
        assert.equal(await signatures.hold(token, header(alg)), false, alg);
      }
      for (const alg of [undefined, null, 1, ['ES256'], FITTING[name]]) {
        assert.equal(await signatures.hold(token, { alg }), false, String(alg));
      }
    });

    it(`do not hold by a key other than ${name}`, async () => {
      const [alg = ''] = FITTING[name];
      const stranger = name === 'rsa' ? TestKey.rsa() : ec({ p256: 'P-256', p384: 'P-384', p521: 'P-521' }[name]);
      for (const kid of [key.verifying.id, stranger.verifying.id]) {
        assert.equal(await signatures.hold(await stranger.sign({}, { alg, kid }), header(alg, kid)), false);
      }
    });
  }

  it('hold by the right one of several keys of a kind', async () => {
    const keys = [TestKey.rsa(), TestKey.rsa(), TestKey.rsa()];
    const several = new Signatures(keys.map(({ verifying }) => verifying));
    for (const key of keys) {
      assert.equal(await several.hold(await key.sign({}, { kid: '' }), { alg: 'RS256' }), true);
    }
  });

  it('do not hold where there is no key', async () => {
    const token = await KEYS.p256.sign({});
    assert.equal(await new Signatures([]).hold(token, { alg: 'ES256' }), false);
  });
});
