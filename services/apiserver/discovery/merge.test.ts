import assert from 'node:assert/strict';
import type { RemoteVersion } from '../registry/remote-api.js';
import type { ServedGroup } from '../registry/served.js';
import { merged, type ShownGroup } from './merge.js';

const served = (name: string, ...versions: string[]): ServedGroup => ({
  name,
  versions: versions.map((version) => ({ version, resources: [] })),
});
const remote = (group: string, version: string, groupPriority = 1, versionPriority = 1): RemoteVersion => ({
  group,
  version,
  groupPriority,
  versionPriority,
  resources: [],
  isStale: false,
});
const shown = (groups: readonly ShownGroup[]): string[] =>
  groups.map(({ name, versions }) => `${name}: ${versions.map(({ version }) => version).join(' ')}`);
const SERVED = [served('', 'v1'), served('apiregistration.k8s.io', 'v1'), served('apps', 'v1'), served('b.example.com', 'v1')]; // prettier-ignore

describe('merged()', () => {
  it('is what is served, where others serve nothing', () => {
    assert.equal(merged(SERVED, []), SERVED);
  });

  it('puts groups in their place by priority, then by name', () => {
    const others = [remote('z.example.com', 'v1', 1000), remote('a.example.com', 'v1', 1000), remote('first.example.com', 'v1', 17_900), remote('last.example.com', 'v1', 5)]; // prettier-ignore
    assert.deepEqual(shown(merged(SERVED, others)), [
      ': v1',
      'apiregistration.k8s.io: v1',
      'first.example.com: v1',
      'apps: v1',
      'a.example.com: v1',
      'b.example.com: v1',
      'z.example.com: v1',
      'last.example.com: v1',
    ]);
  });

  it('gives a group the highest priority that one of its versions asks for', () => {
    const groups = merged(SERVED, [remote('b.example.com', 'v2', 17_900), remote('c.example.com', 'v1', 9), remote('c.example.com', 'v2', 18_000)]); // prettier-ignore
    assert.deepEqual(shown(groups).slice(2), ['c.example.com: v2 v1', 'b.example.com: v1 v2', 'apps: v1']);
  });

  it('orders versions by priority, then as versions are ordered', () => {
    const others = [remote('b.example.com', 'v1beta1', 1, 100), remote('b.example.com', 'v9', 1, 3), remote('b.example.com', 'v2alpha1', 1, 200), remote('b.example.com', 'v10', 1, 3)]; // prettier-ignore
    assert.deepEqual(shown(merged(SERVED, others)).at(-1), 'b.example.com: v2alpha1 v1 v1beta1 v10 v9');
    assert.deepEqual(shown(merged(SERVED, [remote('apps', 'v2', 1, 14), remote('apps', 'v3', 1, 16)]))[2], 'apps: v3 v1 v2'); // prettier-ignore
  });

  it('shows what is served here as it is served here', () => {
    const groups = merged(SERVED, [remote('apps', 'v1'), remote('', 'v1'), remote('', 'v2')]);
    assert.deepEqual(shown(groups), shown(SERVED));
    assert.deepEqual(groups.map((group, i) => group === SERVED[i]), [true, true, true, true]); // prettier-ignore
  });
});
