import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { alignSeccomp } from './seccomp.js';

const POD = 'seccomp.example.com/pod';
const OF = 'container.seccomp.example.com/';
type Containers = Record<string, object | undefined>;

const pod = (
  annotations: Record<string, string>,
  whole?: object,
  containers: Containers = {},
  more = {},
): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
  spec: {
    ...(whole === undefined ? {} : { securityContext: whole }),
    containers: ['c', 'd'].map((name) => ({ name, ...(containers[name] && { securityContext: containers[name] }) })),
    initContainers: [{ name: 'i', ...(containers['i'] && { securityContext: containers['i'] }) }],
    ...more,
  },
});
const profile = (type: string, more: object = {}): object => ({ seccompProfile: { type, ...more } });
const local = (localhostProfile: string): object => profile('Localhost', { localhostProfile });

describe('alignSeccomp()', () => {
  const rows: readonly (readonly [string, before: ApiObject, after: ApiObject])[] = [
    ['leaves alone what says nothing', pod({}), pod({})],
    ['takes the runtime profile', pod({ [POD]: 'runtime/default' }), pod({ [POD]: 'runtime/default' }, profile('RuntimeDefault'))], // prettier-ignore
    ['takes it by its older name', pod({ [POD]: 'docker/default' }), pod({ [POD]: 'docker/default' }, profile('RuntimeDefault'))], // prettier-ignore
    ['takes none', pod({ [POD]: 'unconfined' }), pod({ [POD]: 'unconfined' }, profile('Unconfined'))],
    ['takes a file', pod({ [POD]: 'localhost/p.json' }), pod({ [POD]: 'localhost/p.json' }, local('p.json'))],
    ['takes no file without a name', pod({ [POD]: 'localhost/' }), pod({ [POD]: 'localhost/' })],
    [
      'keeps what else the security context has',
      pod({ [POD]: 'unconfined' }, { runAsNonRoot: true }),
      pod({ [POD]: 'unconfined' }, { runAsNonRoot: true, ...profile('Unconfined') }),
    ],
    [
      'takes those of containers, also of those that initialize',
      pod({ [`${OF}c`]: 'localhost/x', [`${OF}i`]: 'unconfined', [`${OF}none`]: 'unconfined' }),
      pod({ [`${OF}c`]: 'localhost/x', [`${OF}i`]: 'unconfined', [`${OF}none`]: 'unconfined' }, undefined, { c: local('x'), i: profile('Unconfined') }), // prettier-ignore
    ],
    [
      'says them all in annotations',
      pod({}, local('p'), { c: profile('Unconfined'), i: profile('RuntimeDefault') }),
      pod({ [POD]: 'localhost/p', [`${OF}i`]: 'runtime/default', [`${OF}c`]: 'unconfined' }, local('p'), { c: profile('Unconfined'), i: profile('RuntimeDefault') }), // prettier-ignore
    ],
    ['overwrites neither', pod({ [POD]: 'runtime/default' }, profile('Unconfined')), pod({ [POD]: 'runtime/default' }, profile('Unconfined'))], // prettier-ignore
    [
      'has nothing to do with Windows',
      pod({}, profile('Unconfined'), {}, { os: { name: 'windows' } }),
      pod({}, profile('Unconfined'), {}, { os: { name: 'windows' } }),
    ],
    ['says nothing of a profile that is wrong', pod({}, profile('Localhost')), pod({}, profile('Localhost'))],
  ];
  for (const [what, before, after] of rows) {
    it(what, () => {
      alignSeccomp(before, { seccompOfPod: POD, seccompOfContainer: OF });
      assert.deepEqual(before, after);
    });
  }
});
