import assert from 'node:assert/strict';
import { redirected } from './redirect.js';
import type { Target } from './target.js';

const target = (scheme: 'http' | 'https', host: string, port: number): Target => ({
  scheme,
  host,
  port,
  tls: {},
  allows: () => true,
});
const at = (location: string, to = target('http', '10.0.0.1', 8080)): string =>
  redirected(location, { prefix: '/api/v1/x/proxy', target: to, host: 'server:6443' });

describe('redirected()', () => {
  for (const [from, to] of [
    ['/', '/api/v1/x/proxy/'],
    ['/a/b?c=/d#e', '/api/v1/x/proxy/a/b?c=/d#e'],
    ['http://10.0.0.1:8080/a', '/api/v1/x/proxy/a'],
    ['http://10.0.0.1:8080', '/api/v1/x/proxy/'],
    ['http://10.0.0.1:8080?a', '/api/v1/x/proxy/?a'],
    ['//10.0.0.1:8080/a', '/api/v1/x/proxy/a'],
    ['https://server:6443/a', '/api/v1/x/proxy/a'],
    ['/api/v1/x/proxy', '/api/v1/x/proxy'],
    ['/api/v1/x/proxy/a', '/api/v1/x/proxy/a'],
    ['/api/v1/x/proxying', '/api/v1/x/proxy/api/v1/x/proxying'],
  ] as const) {
    it(`leads ${from} through the proxy`, () => assert.equal(at(from), to));
  }
  for (const location of [
    'a',
    '../a',
    '?a',
    '#a',
    '',
    'mailto:a@b',
    'http://10.0.0.1/a',
    'http://10.0.0.1:80/a',
    'https://example.com/',
    '//example.com/a',
  ]) {
    it(`leaves ${JSON.stringify(location)} as it is`, () => assert.equal(at(location), location));
  }
  it('knows the ports that go without saying', () => {
    assert.equal(at('https://10.0.0.1/a', target('https', '10.0.0.1', 443)), '/api/v1/x/proxy/a');
    assert.equal(at('http://[fd00::1]/a', target('http', 'fd00::1', 80)), '/api/v1/x/proxy/a');
  });
});
