import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { kubeconfigText } from './write.js';

describe('kubeconfigText()', () => {
  const config = {
    cluster: 'here',
    user: 'admin',
    server: 'https://[::1]:6443',
    authority: '-----BEGIN CERTIFICATE-----\nCA\n-----END CERTIFICATE-----\n',
    certificate: 'certificate\n',
    key: 'key\n',
  };

  it('is a file that clients can read, with everything in it', () => {
    assert.deepEqual(parse(kubeconfigText(config)), {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'here',
          cluster: {
            server: 'https://[::1]:6443',
            'certificate-authority-data': Buffer.from(config.authority).toString('base64'),
          },
        },
      ],
      users: [
        {
          name: 'admin',
          user: {
            'client-certificate-data': Buffer.from('certificate\n').toString('base64'),
            'client-key-data': Buffer.from('key\n').toString('base64'),
          },
        },
      ],
      contexts: [{ name: 'admin@here', context: { cluster: 'here', user: 'admin' } }],
      'current-context': 'admin@here',
    });
  });

  for (const name of [
    'yes',
    '1.0',
    'a: b',
    '# no comment',
    '- item',
    'quote " and \\',
    'line\nbreak',
    '{}',
    ' spaces ',
  ]) {
    it(`keeps the name ${JSON.stringify(name)} as it is`, () => {
      const { clusters } = parse(kubeconfigText({ ...config, cluster: name })) as { clusters: { name: string }[] };
      assert.equal(clusters[0]!.name, name);
    });
  }
});
