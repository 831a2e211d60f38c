import assert from 'node:assert/strict';
import { hostPort, namedTarget, portNumber } from './target.js';

describe('namedTarget()', () => {
  for (const [id, scheme, name, port] of [
    ['a', '', 'a', ''],
    ['a:', '', 'a', ''],
    ['a:80', '', 'a', '80'],
    ['a:web', '', 'a', 'web'],
    ['https:a:', 'https', 'a', ''],
    ['http:a:80', 'http', 'a', '80'],
    [':a:80', '', 'a', '80'],
  ] as const) {
    it(`reads ${id}`, () => assert.deepEqual(namedTarget(id), { scheme, name, port }));
  }
  for (const id of ['', ':80', 'ftp:a:80', 'http::80', 'a:b:c:d', 'HTTP:a:1']) {
    it(`refuses ${JSON.stringify(id)}`, () => assert.equal(namedTarget(id), undefined));
  }
});

describe('portNumber()', () => {
  for (const text of ['1', '80', '65535']) it(`reads ${text}`, () => assert.equal(portNumber(text), Number(text)));
  for (const text of ['', '0', '65536', '-1', '1e3', '0x50', 'web', '8 0']) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(portNumber(text), undefined));
  }
});

describe('hostPort()', () => {
  it('puts addresses of IPv6 in brackets', () => {
    assert.deepEqual([hostPort('10.0.0.1', 80), hostPort('fd00::1', 80)], ['10.0.0.1:80', '[fd00::1]:80']);
  });
});
