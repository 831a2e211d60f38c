import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { ClientConfigError } from './member.js';
import { withProviderConfig } from './provider-edit.js';

const changes = new Map([
  ['id-token', 'new.id'],
  ['refresh-token', 'new-refresh'],
]);
const edit = (text: string, user = 'jane', wanted: ReadonlyMap<string, string> = changes): string =>
  withProviderConfig(Buffer.from(text), { file: 'f', user, changes: wanted });

const YAML = `# mine
users:
- name: joe   # not this one
  user: {auth-provider: {name: oidc, config: {id-token: joe's}}}
- name: "jane"
  user:
    auth-provider:
      name: oidc
      config:
        id-token: old.id # see below
        idp-issuer-url:   'https://a'
        refresh-token: &r "old"
current-context: x
`;

describe('withProviderConfig()', () => {
  it('changes the settings in YAML, and not a letter more', () => {
    const expected = YAML.replace('old.id', '"new.id"').replace('"old"', '"new-refresh"');
    assert.equal(edit(YAML), expected);
  });

  it('changes the settings in JSON, and not a letter more', () => {
    const json = `{"users":  [{"name": "jane", "user": {"auth-provider": {"name":"oidc", "config": {
      "refresh-token":"o", "id-token" : ""}}}}]\n}`;
    assert.equal(edit(json), json.replace('""', '"new.id"').replace('"o",', '"new-refresh",'));
  });

  it('adds settings that are not there', () => {
    const added = edit(YAML.replace(/.*-token: .*\n/g, (line) => (line.includes("joe's") ? line : '')));
    assert.match(
      added,
      /^ {8}"refresh-token": "new-refresh"\n {8}"id-token": "new.id"\n {8}idp-issuer-url: {3}'https:\/\/a'\n/m,
    );
    const json = '{"users": [{"name": "jane", "user": {"auth-provider": {"name": "oidc", "config": {"a":"b"}}}}]}';
    const { users } = JSON.parse(edit(json)) as { users: { user: { 'auth-provider': { config: object } } }[] };
    assert.deepEqual(users[0]!.user['auth-provider'].config, {
      'id-token': 'new.id',
      'refresh-token': 'new-refresh',
      a: 'b',
    });
  });

  it('changes texts of several lines', () => {
    const text = edit(
      YAML.replace('old.id # see below', '|\n          old\n          id').replace('&r "old"', '>-\n          old'),
    );
    assert.equal((parse(text) as { users: unknown[] }).users.length, 2);
    assert.ok(text.includes('id-token: "new.id"\n        idp'));
  });

  it('writes any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const config = parse(edit(YAML, 'jane', new Map([['id-token', value]]))) as {
          users: { user: { 'auth-provider': { config: Record<string, string> } } }[];
        };
        assert.equal(config.users[1]!.user['auth-provider'].config['id-token'], value);
      }),
    );
  });

  it('changes what any writer of YAML has written', () => {
    const config = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { minKeys: 1, noNullPrototype: true });
    fc.assert(
      fc.property(config, fc.constantFrom('block' as const, 'flow' as const), (settings, collectionStyle) => {
        const value = { users: [{ name: 'jane', user: { 'auth-provider': { config: settings } } }] };
        const text = edit(stringify(value, { collectionStyle, schema: 'core' }));
        Object.assign(settings, Object.fromEntries(changes));
        assert.deepEqual(parse(text), value);
      }),
    );
  });

  for (const [what, text] of [
    ['has no such user', YAML.replace('"jane"', 'anna')],
    ['has no users', 'users: {}'],
    ['is a list', '[]'],
    ['has no settings', YAML.replace(/config:\n( {8}.*\n)+/, '')],
    ['has empty settings', YAML.replace(/config:\n( {8}.*\n)+/, 'config: {}\n')],
    ['shares settings', `x: &c {id-token: a}\n${YAML.replace(/config:\n( {8}.*\n)+/, 'config: *c\n')}`],
    ['uses the token elsewhere', `${YAML}other: *r\n`],
  ] as const) {
    it(`refuses a file that ${what}`, () => {
      assert.throws(
        () => edit(text),
        new ClientConfigError('f: the settings of an auth provider cannot be changed in place'),
      );
    });
  }
});
