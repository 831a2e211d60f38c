import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';
import { DATA_KEY } from '../testing/words.js';

const named = (kind: string): Readonly<Record<string, unknown>> => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', namespace: 'default' },
});

describe('validation of config maps', () => {
  const kind = new KindUnderTest({ resource: 'configmaps', type: 'core/v1.ConfigMap' });
  const map = { ...named('ConfigMap'), data: { a: 'b' }, binaryData: { c: 'ZGQ=' } };
  kind.acceptsManifest('a config map', map);
  kind.acceptsManifest('a config map of a MiB', { ...map, binaryData: {}, data: { a: 'x'.repeat(1024 * 1024) } });
  kind.acceptsManifest('bytes of a MiB', {
    ...map,
    data: {},
    binaryData: { a: Buffer.alloc(1024 * 1024).toString('base64') },
  });
  kind.refuses(map, [
    [{ data: { 'a b': 'c' } }, 'data[a b]', `Invalid value: "a b": ${DATA_KEY}`],
    [{ data: { '..': 'c' } }, 'data[..]', 'Invalid value: "..": must not be \'..\''],
    [{ data: { '..a': 'c' } }, 'data[..a]', 'Invalid value: "..a": must not start with \'..\''],
    [{ data: { c: 'c' } }, 'data[c]', 'Invalid value: "c": duplicate of key present in binaryData'],
    [{ binaryData: { '': '' } }, 'binaryData[]', `Invalid value: "": ${DATA_KEY}`],
  ]);

  it('refuses more than a MiB', () => {
    assert.deepEqual(kind.onCreate({ ...map, data: { a: 'x'.repeat(1024 * 1024 - 1) } }), [
      { reason: 'FieldValueTooLong', field: '', message: 'Too long: must have at most 1048576 bytes' },
    ]);
  });

  const SEALED = 'Forbidden: field is immutable when `immutable` is set';
  kind.acceptsUpdates(map, [{ immutable: true }, { data: {} }]);
  kind.acceptsUpdates(changed(map, { immutable: true }), [{ 'metadata.labels': { a: 'b' } }]);
  kind.refusesUpdates(changed(map, { immutable: true }), [
    [{ immutable: false }, 'immutable', SEALED],
    [{ 'data.a': 'c' }, 'data', SEALED],
    [{ binaryData: {} }, 'binaryData', SEALED],
  ]);
});

describe('validation of secrets', () => {
  const kind = new KindUnderTest({ resource: 'secrets', type: 'core/v1.Secret' });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const secret = { ...named('Secret'), type: 'Opaque', data: { a: 'Yg==' } };
  kind.acceptsManifest('a secret', secret);
  kind.acceptsManifest('a secret of a type that is not known', { ...secret, type: 'example.com/mine' });
  kind.acceptsManifest('a certificate', {
    ...secret,
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': '', 'tls.key': '' },
  });
  kind.acceptsManifest('a registry', {
    ...secret,
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': base64('{"auths":{}}') },
  });
  const REDACTED = 'Invalid value: "<secret contents redacted>"';
  kind.refuses(secret, [
    [{ data: { 'a/b': '' } }, 'data[a/b]', `Invalid value: "a/b": ${DATA_KEY}`],
    [
      { type: 'kubernetes.io/service-account-token' },
      'metadata.annotations[kubernetes.io/service-account.name]',
      'Required value',
    ],
    [{ type: 'kubernetes.io/dockercfg' }, 'data[.dockercfg]', 'Required value'],
    [{ type: 'kubernetes.io/dockerconfigjson' }, 'data[.dockerconfigjson]', 'Required value'],
    [
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('{') } },
      'data[.dockerconfigjson]',
      `${REDACTED}: must be valid JSON`,
    ],
    [
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': '' } },
      'data[.dockerconfigjson]',
      `${REDACTED}: unexpected end of JSON input`,
    ],
    [{ type: 'kubernetes.io/basic-auth' }, 'data[username]', 'Required value', 'data[password]', 'Required value'],
    [{ type: 'kubernetes.io/ssh-auth' }, 'data[ssh-privatekey]', 'Required value'],
    [{ type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, 'data[tls.key]', 'Required value'],
  ]);
  kind.accepts(secret, [{ type: 'kubernetes.io/basic-auth', data: { password: '' } }]);
  kind.refusesUpdates(changed(secret, { immutable: true }), [
    [{ 'data.a': 'Yw==' }, 'data', 'Forbidden: field is immutable when `immutable` is set'],
  ]);

  it('refuses more than a MiB', () => {
    const data = { a: Buffer.alloc(1024 * 1024 + 1).toString('base64') };
    assert.deepEqual(
      kind.onCreate({ ...secret, data }).map(({ field, message }) => `${field}: ${message}`),
      ['data: Too long: must have at most 1048576 bytes'],
    );
  });
});

describe('validation of secrets in the platform vocabulary', () => {
  const kind = new KindUnderTest({ resource: 'secrets', type: 'core/v1.Secret', words: 'platform' });
  kind.refuses({ ...named('Secret'), type: 'platform.io/tls' }, [
    [{}, 'data[tls.crt]', 'Required value', 'data[tls.key]', 'Required value'],
  ]);
});
