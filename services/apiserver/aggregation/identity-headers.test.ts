import assert from 'node:assert/strict';
import { hasReason } from '../../machinery/meta/status.js';
import { escapedKey, identityHeaders } from './identity-headers.js';

const user = { name: 'jane', uid: '7', groups: ['a', 'b'], extra: {} };

describe('identityHeaders()', () => {
  it('tell of a user, each group for itself', () => {
    const extra = { 'example.com/Scope': ['x', 'y'], empty: [] };
    assert.deepEqual(identityHeaders({ ...user, extra }), {
      'x-remote-user': 'jane',
      'x-remote-uid': '7',
      'x-remote-group': ['a', 'b'],
      'x-remote-extra-example.com%2Fscope': ['x', 'y'],
    });
    assert.deepEqual(identityHeaders({ name: 'x', uid: '', groups: [], extra: {} }), { 'x-remote-user': 'x' });
  });

  it('put together what differs in case alone, and take names of members of all objects for names', () => {
    const extra = { A: ['1'], a: ['2'], ['__proto__']: ['3'], constructor: ['4'] };
    const headers = identityHeaders({ ...user, extra: Object.assign(Object.create(null), extra) as typeof extra });
    assert.deepEqual(headers['x-remote-extra-a'], ['1', '2']);
    assert.deepEqual(headers['x-remote-extra-constructor'], ['4']);
  });

  it('write UTF-8, each byte as a character', () => {
    assert.equal(identityHeaders({ ...user, name: '\u65e5\u{1f40b}' })['x-remote-user'], '\u00e6\u0097\u00a5\u00f0\u009f\u0090\u008b'); // prettier-ignore
  });

  it('refuse what the other side would read as something else', () => {
    const hostile = [
      ' admin',
      'admin ',
      '\tadmin',
      'a\r\nX-Remote-Group: system:masters',
      'a\nb',
      'a\0',
      'a\x7f',
      '\v',
    ];
    for (const text of hostile) {
      const users = [{ ...user, name: text }, { ...user, uid: text }, { ...user, groups: ['a', text] }, { ...user, extra: { k: [text] } }]; // prettier-ignore
      for (const it of users) assert.throws(() => identityHeaders(it), (err) => hasReason(err, 'Forbidden'), JSON.stringify(text)); // prettier-ignore
    }
    assert.equal(identityHeaders({ ...user, name: 'a\tb c' })['x-remote-user'], 'a\tb c');
  });
});

describe('escapedKey()', () => {
  it('escapes what no name of a header has, and the percent sign', () => {
    const cases = { plain: 'plain', 'A/b c': 'a%2Fb%20c', '100%': '100%25', 'x:y\r\n': 'x%3Ay%0D%0A', '\u00e4': '%C3%A4', "!#$&'*+.^_`|~-": "!#$&'*+.^_`|~-" }; // prettier-ignore
    for (const [key, escaped] of Object.entries(cases)) assert.equal(escapedKey(key), escaped);
  });
});
