import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../meta/object.js';
import { StatusError } from '../meta/status.js';
import { decodeObject } from '../schema/decode.js';
import { loadCatalog } from '../types/catalog.js';
import { typeGraph } from '../types/graph.js';
import { arbitraryOf } from '../types/testing/arbitrary.js';
import { vocabulary } from '../vocabulary/vocabulary.js';
import { applyStrategicMergePatch } from './strategic-merge.js';
import { processorMs } from '../testing/processor-time.js';

const catalog = loadCatalog(vocabulary('platform'));
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
};

/** The result, after it is clear that neither input can have changed. */
const patched = (typeKey: string, document: unknown, patch: unknown): Json =>
  applyStrategicMergePatch(catalog.types.of(typeKey), frozen(document as Json), frozen(patch as Json));

function refusal(act: () => unknown): StatusError {
  try {
    act();
  } catch (err) {
    assert.ok(err instanceof StatusError, String(err));
    return err;
  }
  throw new Error('was not refused');
}

const json = (text: string): unknown => JSON.parse(text);

describe('applyStrategicMergePatch()', () => {
  /** Of a PodSpec. */
  const podSpecs: readonly (readonly [what: string, before: object, patch: object, after: object])[] = [
    [
      'merges containers by name',
      { containers: [{ name: 'a', image: 'x', tty: true }, { name: 'b' }] },
      { containers: [{ name: 'a', image: 'y' }] },
      { containers: [{ name: 'a', image: 'y', tty: true }, { name: 'b' }] },
    ],
    [
      'puts a new container where the patch names it: before those that it does not name',
      { containers: [{ name: 'a' }] },
      { containers: [{ name: 'b', image: 'x' }] },
      { containers: [{ name: 'b', image: 'x' }, { name: 'a' }] },
    ],
    [
      'deletes a container',
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { containers: [{ name: 'a', $patch: 'delete' }] },
      { containers: [{ name: 'b' }] },
    ],
    [
      'deletes what is not there',
      { containers: [{ name: 'a' }] },
      { containers: [{ $patch: 'delete', name: 'z' }], volumes: [{ $patch: 'delete', name: 'z' }] },
      { containers: [{ name: 'a' }], volumes: [] },
    ],
    [
      'replaces a list that says so',
      { containers: [{ name: 'a', image: 'x' }, { name: 'b' }] },
      { containers: [{ $patch: 'replace' }, { name: 'a', tty: true }] },
      { containers: [{ name: 'a', tty: true }] },
    ],
    [
      'merges variables by name and ports by number, inside containers',
      {
        containers: [{ name: 'c', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      },
      { containers: [{ name: 'c', env: [{ name: 'A', value: '2' }], ports: [{ containerPort: 80, name: 'web' }] }] },
      {
        containers: [
          { name: 'c', env: [{ name: 'A', value: '2' }], ports: [{ containerPort: 80, protocol: 'TCP', name: 'web' }] },
        ],
      },
    ],
    [
      'takes the first of two ports with one number',
      {
        containers: [
          {
            name: 'c',
            ports: [
              { containerPort: 53, protocol: 'TCP' },
              { containerPort: 53, protocol: 'UDP' },
            ],
          },
        ],
      },
      { containers: [{ name: 'c', ports: [{ containerPort: 53, name: 'dns' }] }] },
      {
        containers: [
          {
            name: 'c',
            ports: [
              { containerPort: 53, protocol: 'TCP', name: 'dns' },
              { containerPort: 53, protocol: 'UDP' },
            ],
          },
        ],
      },
    ],
    [
      'lets a variable go from one source to another',
      { containers: [{ name: 'c', env: [{ name: 'A', value: '1' }] }] },
      { containers: [{ name: 'c', env: [{ name: 'A', value: null, valueFrom: { fieldRef: { fieldPath: 'p' } } }] }] },
      { containers: [{ name: 'c', env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'p' } } }] }] },
    ],
    [
      'keeps of a volume what is to be kept',
      {
        volumes: [
          { name: 'v', emptyDir: { medium: 'Memory' } },
          { name: 'w', emptyDir: {} },
        ],
      },
      { volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] },
      {
        volumes: [
          { name: 'v', hostPath: { path: '/x' } },
          { name: 'w', emptyDir: {} },
        ],
      },
    ],
    [
      'replaces lists that are declared without a strategy',
      { tolerations: [{ key: 'a' }, { key: 'b' }] },
      { tolerations: [{ key: 'c' }] },
      { tolerations: [{ key: 'c' }] },
    ],
    [
      'merges objects, and deletes with null',
      { securityContext: { runAsUser: 1, runAsGroup: 2 }, nodeSelector: { a: '1', b: '2' }, hostNetwork: true },
      {
        securityContext: { runAsUser: null, fsGroup: 3 },
        nodeSelector: { a: null },
        hostNetwork: null,
        nodeName: null,
      },
      { securityContext: { runAsGroup: 2, fsGroup: 3 }, nodeSelector: { b: '2' } },
    ],
    [
      'replaces and empties objects that say so',
      { securityContext: { runAsUser: 1 }, affinity: { nodeAffinity: {} } },
      { securityContext: { $patch: 'replace', fsGroup: 3 }, affinity: { $patch: 'delete' } },
      { securityContext: { fsGroup: 3 }, affinity: {} },
    ],
    [
      'leaves directives and nulls out of what is new',
      {},
      {
        securityContext: { $patch: 'replace', fsGroup: 3, runAsUser: null },
        volumes: [{ name: 'v', $retainKeys: ['name', 'emptyDir'], emptyDir: { medium: null } }],
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
        containers: [{ name: 'a' }, { name: 'b', '$setElementOrder/env': [{ name: 'X' }], env: [{ name: 'X' }] }],
      },
      {
        securityContext: { fsGroup: 3 },
        volumes: [{ name: 'v', emptyDir: {} }],
        containers: [{ name: 'a' }, { name: 'b', env: [{ name: 'X' }] }],
      },
    ],
    [
      'replaces what is of another JSON kind',
      { securityContext: 'x', containers: 'y', nodeName: { a: 1 } },
      { securityContext: { fsGroup: 1 }, containers: [{ name: 'c' }], nodeName: 'n' },
      { securityContext: { fsGroup: 1 }, containers: [{ name: 'c' }], nodeName: 'n' },
    ],
    [
      'merges members that nobody declared, and replaces their lists',
      { later: { a: 1, list: [{ name: 'x' }] } },
      { later: { b: 2, list: [{ name: 'y' }] } },
      { later: { a: 1, b: 2, list: [{ name: 'y' }] } },
    ],
    [
      'sets the order of a list, with others in their places as far as that goes',
      { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }] },
      { '$setElementOrder/containers': [{ name: 'd' }, { name: 'b' }] },
      { containers: [{ name: 'a' }, { name: 'c' }, { name: 'd' }, { name: 'b' }] },
    ],
    [
      'takes what a client that applies generates: order, addition, change and deletion at once',
      { containers: [{ name: 'old' }, { name: 'web', image: 'x' }, { name: 'injected' }] },
      {
        '$setElementOrder/containers': [{ name: 'new' }, { name: 'web' }],
        containers: [
          { name: 'new', image: 'n' },
          { name: 'web', image: 'y' },
          { $patch: 'delete', name: 'old' },
        ],
      },
      { containers: [{ name: 'new', image: 'n' }, { name: 'web', image: 'y' }, { name: 'injected' }] },
    ],
    ['orders a list that is not there', {}, { '$setElementOrder/containers': [{ name: 'a' }] }, {}],
    ['keeps what the patch leaves alone', { containers: [{ name: 'a' }] }, {}, { containers: [{ name: 'a' }] }],
    [
      'merges nothing into a list',
      { containers: [{ name: 'a' }] },
      { containers: [] },
      { containers: [{ name: 'a' }] },
    ],
  ];
  for (const [what, before, patch, after] of podSpecs) {
    it(what, () => assert.deepEqual(patched('core/v1.PodSpec', before, patch), after));
  }

  const metadata: readonly (readonly [what: string, before: object, patch: object, after: object])[] = [
    [
      'adds finalizers, each once, in the order of the patch',
      { finalizers: ['a', 'b'] },
      { finalizers: ['c', 'b'] },
      { finalizers: ['c', 'a', 'b'] },
    ],
    [
      'deletes finalizers',
      { finalizers: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/finalizers': ['a', 'z'], '$setElementOrder/finalizers': ['c', 'b'] },
      { finalizers: ['c', 'b'] },
    ],
    ['deletes finalizers where there are none', {}, { '$deleteFromPrimitiveList/finalizers': ['a'] }, {}],
    [
      'merges owners by uid',
      { ownerReferences: [{ uid: '1', name: 'a' }] },
      { ownerReferences: [{ uid: '1', controller: true }, { uid: '2' }] },
      { ownerReferences: [{ uid: '1', name: 'a', controller: true }, { uid: '2' }] },
    ],
    [
      'replaces the list of managed fields',
      { managedFields: [{ manager: 'a' }] },
      { managedFields: [{}] },
      { managedFields: [{}] },
    ],
    [
      'treats keys of maps as data',
      { labels: json('{"__proto__":"1","constructor":"2"}') as object },
      { labels: json('{"__proto__":"3","constructor":null,"toString":"4"}') as object },
      { labels: json('{"__proto__":"3","toString":"4"}') as object },
    ],
  ];
  for (const [what, before, patch, after] of metadata) {
    it(what, () => assert.deepEqual(patched('meta/v1.ObjectMeta', before, patch), after));
  }

  it('replaces the whole strategy of a deployment but what is to be kept', () => {
    const before = { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    assert.deepEqual(patched('apps/v1.Deployment', before, patch), { spec: { strategy: { type: 'Recreate' } } });
  });

  it('replaces an object that is declared so', () => {
    const before = { selector: { matchLabels: { a: '1' } } };
    const after = { selector: { matchLabels: { b: '2' } } };
    assert.deepEqual(patched('policy/v1.PodDisruptionBudgetSpec', before, after), after);
    assert.deepEqual(patched('policy/v1beta1.PodDisruptionBudgetSpec', before, after), {
      selector: { matchLabels: { a: '1', b: '2' } },
    });
  });

  it('merges raw JSON as such: directives are data there', () => {
    const before = { data: { a: 1, list: [1] } };
    const patch = { data: { a: null, $patch: 'delete', list: [2] } };
    assert.deepEqual(patched('apps/v1.ControllerRevision', before, patch), { data: { $patch: 'delete', list: [2] } });
  });

  it('replaces the whole document if the patch says so', () => {
    assert.deepEqual(patched('core/v1.ConfigMap', { data: { a: '1' } }, { $patch: 'replace', kind: 'X' }), {
      kind: 'X',
    });
  });

  it('gives back what it does not change', () => {
    const document = {
      spec: { containers: [{ name: 'a', env: [{ name: 'x', value: '1' }] }] },
      metadata: { finalizers: ['f'] },
    };
    const patches = [
      {},
      { spec: { containers: [{ name: 'a', env: [{ name: 'x', value: '1' }] }] } },
      { metadata: { finalizers: ['f'], '$setElementOrder/finalizers': ['f'] }, spec: { nodeName: null } },
    ];
    for (const patch of patches) assert.equal(patched('core/v1.Pod', document, patch), document);
  });

  const refusals: readonly (readonly [before: object, patch: unknown, code: number, message: string])[] = [
    [{}, [], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [{}, { $patch: 'mangle' }, 400, 'invalid patch: unknown patch type: mangle in map: map[$patch:mangle]'],
    [{}, { $patch: 'merge' }, 400, 'invalid patch: unknown patch type: merge in map: map[$patch:merge]'],
    [
      { containers: [] },
      { containers: [{ name: 'a', $patch: 'x' }] },
      400,
      'invalid patch: unknown patch type: x in map: map[$patch:x name:a]',
    ],
    [
      { containers: [] },
      { containers: [{ name: 'a', $patch: 'merge' }] },
      400,
      'invalid patch: merging lists cannot yet be specified in the patch',
    ],
    [
      { containers: [{ name: 'a' }] },
      { containers: [{ image: 'nginx', args: ['x', 'y'] }] },
      422,
      'map: map[args:[x y] image:nginx] does not contain declared merge key: name',
    ],
    [
      { containers: [{ name: 'a' }] },
      { containers: [{ $patch: 'delete' }] },
      422,
      'map: map[$patch:delete] does not contain declared merge key: name',
    ],
    [
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }], containers: [{ name: 'b' }, { name: 'a' }] },
      400,
      "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n",
    ],
    [
      { containers: [{ name: 'a' }] },
      { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'a' }] },
      400,
      "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
    ],
    [{}, { '$setElementOrder/containers': {} }, 400, 'invalid patch format of setElementOrder list'],
    [
      { containers: [{ name: 'a' }] },
      { '$setElementOrder/containers': [{ name: 'a' }], containers: null },
      400,
      'invalid patch format of setElementOrder list',
    ],
    [{}, { '$deleteFromPrimitiveList/x': 'a' }, 400, 'invalid patch format of primitive list'],
    [{}, { securityContext: { $retainKeys: 'a' } }, 400, 'invalid patch format of retainKeys'],
    [{}, { securityContext: { $retainKeys: ['a'], b: 1 } }, 400, 'invalid patch format of retainKeys'],
    [{ containers: [{ name: 'a' }] }, { containers: [['a']] }, 422, 'lists of lists are not supported'],
    [
      { containers: [{ name: 'a' }] },
      { containers: ['a'] },
      400,
      'invalid patch: list element types are not identical: [[map[name:a]] [a]]',
    ],
  ];
  for (const [before, patch, code, message] of refusals) {
    it(`refuses ${JSON.stringify(patch)} for ${JSON.stringify(before)}`, () => {
      const error = refusal(() => patched('core/v1.PodSpec', before, patch));
      assert.deepEqual([error.code, error.message], [code, message]);
    });
  }

  it('quotes no more of a patch than is bearable', () => {
    const item = { image: 'x'.repeat(100_000), args: Array.from({ length: 10_000 }, () => 'a') };
    const { message } = refusal(() =>
      patched('core/v1.PodSpec', { containers: [{ name: 'a' }] }, { containers: [item] }),
    );
    assert.ok(message.length < 400, message);
  });

  it('refuses patches that nest too deep', () => {
    let patch: Json = {};
    for (let i = 0; i < 20_000; i++) patch = { x: patch };
    assert.equal(
      refusal(() => applyStrategicMergePatch(catalog.types.of('core/v1.Pod'), {}, patch)).message,
      'exceeded max depth 1000',
    );
  });

  it('merges long lists in the time that their length takes', () => {
    const containers = Array.from({ length: 50_000 }, (_, i) => ({ name: `c${i}`, image: 'x' }));
    const changes = containers.map(({ name }) => ({ name, image: 'y' })).reverse();
    const order = changes.map(({ name }) => ({ name }));
    const patch = { '$setElementOrder/containers': order, containers: changes };
    let result: unknown;
    const tookMs = processorMs(() => {
      result = applyStrategicMergePatch(catalog.types.of('core/v1.PodSpec'), { containers }, patch);
    });
    assert.ok(tookMs < 5_000); // quadratic would be minutes
    assert.deepEqual((result as { containers: unknown }).containers, changes);
  });

  it('refuses to change the same large item over and over', () => {
    const env = Array.from({ length: 20_000 }, (_, i) => ({ name: `e${i}` }));
    const patch = { containers: Array.from({ length: 5_000 }, (_, i) => ({ name: 'c', env: [{ name: `n${i}` }] })) };
    const error = refusal(() =>
      applyStrategicMergePatch(catalog.types.of('core/v1.PodSpec'), { containers: [{ name: 'c', env }] }, patch),
    );
    assert.equal(error.message, 'invalid patch: it goes through the same lists too often');
  });

  it('merges types that know nothing of strategies as a JSON merge patch does', () => {
    const types = typeGraph(new Map([['example.com/v1.Widget', {}]]));
    const after = applyStrategicMergePatch(
      types.of('example.com/v1.Widget'),
      { spec: { a: [1], b: 1 } },
      { spec: { a: [2] } },
    );
    assert.deepEqual(after, { spec: { a: [2], b: 1 } });
  });
});

describe('applyStrategicMergePatch() of generated objects', () => {
  const kinds = ['core/v1.Pod', 'apps/v1.Deployment', 'core/v1.Service', 'core/v1.Node', 'batch/v1.CronJob'];
  const directive = fc.constantFrom<readonly [string, unknown]>(
    ['$patch', 'replace'],
    ['$patch', 'delete'],
    ['$patch', 'merge'],
    ['$patch', { a: 1 }],
    ['$retainKeys', ['name', 'type']],
    ['$setElementOrder/containers', [{ name: 'a' }]],
    ['$setElementOrder/finalizers', ['a', null]],
    ['$deleteFromPrimitiveList/finalizers', ['a']],
    ['containers', [null]],
    ['__proto__', { x: 1 }],
    ['ports', [{}, 1, 'x']],
  );
  /** The object with directives and nonsense put in at some places. */
  const disturbed = (value: unknown, marks: readonly (readonly [string, unknown])[]): unknown => {
    let next = 0;
    const walk = (node: unknown): unknown => {
      if (Array.isArray(node)) return node.map(walk);
      if (typeof node !== 'object' || node === null) return node;
      const entries = Object.entries(node).map(([key, member]) => [key, walk(member)] as const);
      const mark = marks[next++ % (marks.length * 3)];
      return Object.fromEntries(mark === undefined ? entries : [...entries, mark]);
    };
    return walk(value);
  };

  for (const kind of kinds) {
    const object = arbitraryOf(catalog, kind);

    it(`gives ${kind} back for an empty patch`, () => {
      fc.assert(
        fc.property(object, (made) => {
          assert.equal(patched(kind, made, {}), made);
        }),
        { numRuns: 20 },
      );
    });

    it(`makes of nothing the ${kind} that is the patch`, () => {
      fc.assert(
        fc.property(object, (made) => {
          const decoded = (value: unknown): unknown => decodeObject(catalog.types.of(kind), value).value;
          assert.deepEqual(decoded(patched(kind, {}, made)), decoded(made));
        }),
        { numRuns: 20 },
      );
    });

    it(`refuses patches of ${kind} by an error that clients understand, or not at all`, () => {
      fc.assert(
        fc.property(object, object, fc.array(directive, { minLength: 1, maxLength: 4 }), (before, patch, marks) => {
          try {
            patched(kind, before, disturbed(patch, marks));
          } catch (err) {
            assert.ok(err instanceof StatusError, String(err));
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});
