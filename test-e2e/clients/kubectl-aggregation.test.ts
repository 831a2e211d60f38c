import assert from 'node:assert/strict';
import { ExtensionServer, GROUP } from '../api/tools/extension-server.js';
import { eventually } from '../api/tools/objects.js';
import { ownAddress } from '../api/tools/targets.js';
import { withKubectl } from './kubectl.js';

withKubectl('with an API server behind', { vocabulary: 'kubernetes', store: 'embedded' }, (kubectl) => {
  let far: ExtensionServer;
  before(async () => {
    far = new ExtensionServer();
    far.takesAny = true; // that of the front proxy, which `up` has made
    await far.start();
    const meta = { name: 'far', namespace: 'default' };
    const ports = [{ port: 443, name: 'https' }];
    const subsets = [{ addresses: [{ ip: ownAddress() }], ports: [{ port: far.target.port, name: 'https' }] }];
    const objects = [
      { apiVersion: 'v1', kind: 'Service', metadata: meta, spec: { ports } },
      { apiVersion: 'v1', kind: 'Endpoints', metadata: meta, subsets },
      { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', ...far.apiService() },
    ];
    await kubectl().ok(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await kubectl().ok(['wait', '--for=condition=Available', `apiservice/v1.${GROUP}`, '--timeout=60s']);
  });
  after(() => far.close());

  it('gets, lists and describes what is served there', async () => {
    await eventually(async () => {
      const { code, stdout } = await kubectl().run(['get', 'fl', '-o', 'name']);
      return code === 0 && stdout === `flunder.${GROUP}/a\nflunder.${GROUP}/b\n` ? true : undefined;
    }, 30_000);
    assert.match(await kubectl().ok(['get', 'flunders']), /^NAME\s*\na\s*\nb\s*\n$/);
    const { kind } = await kubectl().json<{ kind: string }>(['get', `flunders.v1.${GROUP}`, 'a']);
    assert.equal(kind, 'Flunder');
    assert.match(await kubectl().ok(['api-resources', `--api-group=${GROUP}`]), /flunders +fl +far\.example\.com\/v1 +true +Flunder/); // prettier-ignore
    assert.match(await kubectl().ok(['get', 'apiservices', `v1.${GROUP}`]), /default\/far +True/);
  });

  it('explains it', async () => {
    const explained = await eventually(async () => {
      const { code, stdout } = await kubectl().run(['explain', 'flunders']);
      return code === 0 ? stdout : undefined;
    }, 30_000);
    assert.match(explained, /A kind of fish\./);
  });
});
