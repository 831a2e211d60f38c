import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import {
  bytesOf,
  constructed,
  context,
  encodeDer,
  membersOf,
  objectId,
  parseDer,
  primitive,
  sequence,
  TAG,
  type Element,
} from './der.js';
import { pemBlocks, pemText } from './pem.js';
import { signed } from './signatures.js';
import { signingRequestProblem } from './signing-request.js';
import { OpenSsl } from './testing/openssl.js';

const TYPE = 'CERTIFICATE REQUEST';
const problemOf = (der: Buffer): string | undefined => signingRequestProblem(pemText(TYPE, der));
const flipped = (der: Buffer, at: number): Buffer => {
  const copy = Buffer.from(der);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
};
const EC = 'x509: ECDSA verification failure';
const RSA = 'crypto/rsa: verification error';
const UNKNOWN = 'x509: cannot verify signature: algorithm unimplemented';
const pss = (...options: readonly string[]): readonly string[] =>
  ['rsa_padding_mode:pss', ...options].flatMap((option) => ['-sigopt', option]);

describe('signingRequestProblem()', () => {
  const openssl = new OpenSsl();
  after(() => {
    openssl.remove();
  });
  const curve = (name: string): readonly string[] => ['ec', '-pkeyopt', `ec_paramgen_curve:${name}`];
  const SALT_OF_HASH = 'rsa_pss_saltlen:-1';
  const kinds: readonly (readonly [
    name: string,
    key: readonly string[],
    options: readonly string[],
    failure: string,
  ])[] = [
    ['P-256', curve('P-256'), [], EC],
    ['P-384', curve('P-384'), ['-sha384'], EC],
    ['P-521', curve('P-521'), ['-sha512'], EC],
    ['P-256 with SHA-1', curve('P-256'), ['-sha1'], EC],
    ['Ed25519', ['ed25519'], [], 'x509: Ed25519 verification failure'],
    ['RSA', ['rsa:2048'], [], RSA],
    ['RSA with SHA-512', ['rsa:2048'], ['-sha512'], RSA],
    ['RSA-PSS', ['rsa:2048'], pss(SALT_OF_HASH), RSA],
    ['RSA-PSS with SHA-384', ['rsa:2048'], ['-sha384', ...pss(SALT_OF_HASH)], RSA],
    ['RSA-PSS with another salt', ['rsa:2048'], pss('rsa_pss_saltlen:222'), RSA],
    ['RSA-PSS with the usual salt', ['rsa:2048'], pss('rsa_pss_saltlen:20'), RSA],
  ];
  /** A request that openssl has made. */
  const requestOf = (key: readonly string[], options: readonly string[]): Buffer => {
    const output = ['-keyout', 'key', '-outform', 'DER', '-out', 'request'];
    const subject = ['-subj', '/O=people/CN=alice', '-addext', 'subjectAltName=DNS:a.b,IP:::1'];
    openssl.run('req', '-new', '-newkey', ...key, '-nodes', ...output, ...subject, ...options);
    return openssl.read('request');
  };
  /** Whether openssl finds the request in order. */
  const verifies = (der: Buffer): boolean => {
    try {
      return /verify OK/.test(
        openssl.run('req', '-verify', '-noout', '-inform', 'DER', '-in', openssl.write('r', der)),
      );
    } catch (err) {
      assert.match(String(err), /verify failure|Unable to load|Error/);
      return false;
    }
  };

  for (const [name, key, options, failure] of kinds) {
    it(`says of a request with ${name} what openssl says`, () => {
      const der = requestOf(key, options);
      assert.deepEqual([problemOf(der), verifies(der)], [undefined, true]);
      const anotherName = flipped(der, der.indexOf('alice'));
      assert.deepEqual([problemOf(anotherName), verifies(anotherName)], [failure, false]);
      const anotherSignature = flipped(der, der.length - 1);
      assert.deepEqual([problemOf(anotherSignature), verifies(anotherSignature)], [failure, false]);
    });
  }

  for (const [what, key, options, problem] of [
    ['of PSS with two hashes', ['rsa:2048'], pss('rsa_mgf1_md:sha384'), UNKNOWN],
    ['of PSS with SHA-1 for the mask', ['rsa:2048'], pss('rsa_mgf1_md:sha1'), UNKNOWN],
    ['of PSS with SHA-1', ['rsa:2048'], ['-sha1', ...pss()], UNKNOWN],
    ['that is not known', ['rsa:2048'], ['-sha224'], UNKNOWN],
  ] as const) {
    it(`refuses an algorithm ${what}`, () => assert.equal(problemOf(requestOf(key, options)), problem));
  }

  it('refuses a key on another curve', () => {
    assert.equal(problemOf(requestOf(curve('secp256k1'), [])), 'x509: signature algorithm does not fit the public key');
  });

  describe('of hostile requests', () => {
    const key = createPrivateKey(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    let parts: readonly Element[];
    let der: Buffer;
    before(() => {
      der = requestOf(curve('P-256'), []);
      parts = membersOf(membersOf(parseDer(der))[0]);
    });
    /** A request with other members, signed again. */
    const withMembers = (...members: readonly (Element | undefined)[]): Buffer =>
      encodeDer(signed(sequence(...members.map((it, i) => it ?? (parts[i] as Element))), key));
    const integer = (bytes: Uint8Array): Element => primitive(TAG.integer, bytes);

    it('says what is wrong with the file', () => {
      const type = 'PEM block type must be CERTIFICATE REQUEST';
      assert.equal(signingRequestProblem(''), type);
      assert.equal(signingRequestProblem(pemText('CERTIFICATE', der)), type);
      for (const [base64, problem] of [
        ['', 'asn1: syntax error: sequence truncated'],
        ['MIID', 'asn1: syntax error: sequence truncated'],
        ['MAMC', 'asn1: syntax error: data truncated'],
        ['MAMCAQA=', "asn1: structure error: tags don't match"],
        ['MIX/////', 'asn1: structure error: length too large'],
      ] as const) {
        assert.equal(problemOf(Buffer.from(base64, 'base64')), problem, base64);
      }
      assert.equal(problemOf(Buffer.concat([der, Buffer.of(0)])), 'asn1: syntax error: trailing data');
    });

    it('refuses huge integers', () => {
      const tooLarge = 'asn1: structure error: integer too large';
      assert.equal(problemOf(withMembers(integer(Buffer.alloc(50_000, 1)), undefined, undefined)), tooLarge);
      const algorithm = sequence(objectId('1.2.840.113549.1.1.1'), primitive(TAG.null, Buffer.of()));
      for (const [modulus, exponent] of [
        [50_000, 3],
        [256, 50_000],
        [25_000, 25_000],
      ] as const) {
        const numbers = sequence(integer(Buffer.alloc(modulus, 0x7f)), integer(Buffer.alloc(exponent, 0x7f)));
        const bitString = primitive(TAG.bitString, Buffer.concat([Buffer.of(0), encodeDer(numbers)]));
        const request = sequence(
          sequence(...parts.slice(0, 2), sequence(algorithm, bitString)),
          sequence(objectId('1.2.840.113549.1.1.11'), primitive(TAG.null, Buffer.of())),
          primitive(TAG.bitString, Buffer.alloc(257)),
        );
        assert.match(problemOf(encodeDer(request)) ?? '', /malformed public key|verification error/);
      }
    });

    it('refuses members of other kinds, and too few', () => {
      const mismatch = "asn1: structure error: tags don't match";
      const text = primitive(TAG.utf8, Buffer.from('x'));
      for (const at of [0, 1, 2, 3]) {
        const others = [0, 1, 2, 3].map((i) => (i === at ? text : undefined));
        assert.equal(problemOf(withMembers(...others)), mismatch, String(at));
      }
      assert.equal(problemOf(withMembers(undefined, undefined)), 'asn1: syntax error: sequence truncated');
      assert.equal(problemOf(withMembers(undefined, undefined, sequence())), 'x509: malformed public key');
      const without = constructed(context(0), []);
      assert.equal(problemOf(withMembers(undefined, undefined, undefined, without)), EC, 'signed with another key');
    });

    it('refuses a signature of half a byte', () => {
      const [content, algorithm, signature] = membersOf(parseDer(der)) as [Element, Element, Element];
      const bytes = bytesOf(signature, TAG.bitString);
      bytes[0] = 4;
      const request = sequence(content, algorithm, primitive(TAG.bitString, bytes));
      assert.equal(problemOf(encodeDer(request)), 'asn1: syntax error: invalid padding bits in BIT STRING');
    });

    it('refuses parameters of PSS that are none', () => {
      const [content, , signature] = membersOf(parseDer(requestOf(['rsa:2048'], [])));
      const PSS = objectId('1.2.840.113549.1.1.10');
      const hash = constructed(context(0), [sequence(objectId('2.16.840.1.101.3.4.2.1'))]);
      const mask = constructed(context(1), [
        sequence(objectId('1.2.840.113549.1.1.8'), sequence(objectId('2.16.840.1.101.3.4.2.1'))),
      ]);
      const salt = (bytes: Buffer): Element => constructed(context(2), [integer(bytes)]);
      for (const parameters of [
        [],
        [sequence()],
        [sequence(hash)],
        [sequence(hash, hash)],
        [primitive(TAG.null, Buffer.of())],
        [sequence(primitive(context(0, false), Buffer.from('0')))],
        [sequence(hash, mask, salt(Buffer.of()))],
        [sequence(hash, mask, salt(Buffer.alloc(9, 1)))],
        [sequence(hash, mask, salt(Buffer.alloc(4, 0xff)))],
        [sequence(hash, mask, salt(Buffer.of(32)), constructed(context(3), [integer(Buffer.of(2))]))],
      ]) {
        const request = sequence(content as Element, sequence(PSS, ...parameters), signature as Element);
        assert.match(problemOf(encodeDer(request)) ?? '', /^(?:asn1: |crypto\/rsa: verification error|x509: )/);
      }
      const odd = sequence(objectId('2.16.840.1.101.3.4.2.1'), primitive(0, Buffer.of()));
      const oddHash = constructed(context(0), [odd]);
      const oddMask = constructed(context(1), [sequence(objectId('1.2.840.113549.1.1.8'), odd)]);
      for (const parameters of [
        [hash, mask, salt(Buffer.of(32)), constructed(context(3), [])],
        [oddHash, mask, salt(Buffer.of(32))],
        [hash, oddMask, salt(Buffer.of(32))],
      ]) {
        const request = sequence(content as Element, sequence(PSS, sequence(...parameters)), signature as Element);
        assert.equal(problemOf(encodeDer(request)), UNKNOWN);
      }
    });

    it('says something of whatever comes, and takes nothing whose content is another', () => {
      const pssRequest = requestOf(['rsa:2048'], pss());
      const contentOf = (request: Buffer): Buffer => encodeDer(membersOf(parseDer(request))[0] as Element);
      const change = fc.record({ at: fc.nat(), remove: fc.nat(4), insert: fc.uint8Array({ maxLength: 4 }) });
      const changes = fc.array(change, { minLength: 1, maxLength: 4 });
      const property = fc.property(fc.boolean(), changes, (isPss, list) => {
        const given = isPss ? pssRequest : der;
        const bytes = list.reduce((before, { at, remove, insert }) => {
          const from = at % before.length;
          return Buffer.concat([before.subarray(0, from), insert, before.subarray(from + remove)]);
        }, given);
        if (problemOf(bytes) === undefined) assert.deepEqual(contentOf(bytes), contentOf(given), bytes.toString('hex'));
      });
      fc.assert(property, { numRuns: 500 });
    });
  });
});

describe('pemText()', () => {
  it('is read again', () => {
    const bytes = Buffer.alloc(100, 7);
    assert.deepEqual(pemBlocks(pemText(TYPE, bytes)), [{ type: TYPE, hasHeaders: false, bytes }]);
  });
});
