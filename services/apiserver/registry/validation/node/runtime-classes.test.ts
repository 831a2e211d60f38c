import { KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL, LABEL_VALUE } from '../testing/words.js';

const group = 'node.k8s.io';

describe('validation of runtime classes', () => {
  const kind = new KindUnderTest({ group, resource: 'runtimeclasses', type: `${group}/v1.RuntimeClass` });
  const runtimeClass = {
    apiVersion: `${group}/v1`,
    kind: 'RuntimeClass',
    metadata: { name: 'gvisor' },
    handler: 'runsc',
    overhead: { podFixed: { cpu: '100m', memory: '64Mi' } },
    scheduling: { nodeSelector: { sandbox: 'true' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] },
  };
  kind.acceptsManifest('a class', runtimeClass);
  kind.accepts(runtimeClass, [{ overhead: undefined, scheduling: undefined }]);
  kind.refuses(runtimeClass, [
    [{ handler: '' }, 'handler', `Invalid value: "": ${LABEL}`],
    [{ 'overhead.podFixed': { cpu: '-1' } }, 'overhead.limits[cpu]', `Invalid value: "-1": ${AT_LEAST_0}`],
    [
      { 'overhead.podFixed': { pods: '1' } },
      'overhead.limits[pods]',
      'Invalid value: "pods": must be a standard resource for containers',
    ],
    [{ 'scheduling.nodeSelector': { a: 'b c' } }, 'scheduling.nodeSelector', `Invalid value: "b c": ${LABEL_VALUE}`],
    [
      { 'scheduling.tolerations': [{ key: 'a', operator: 'Like' }] },
      'scheduling.tolerations.tolerations[0].operator',
      'Unsupported value: "Like": supported values: "Equal", "Exists"',
    ],
    [
      { 'scheduling.tolerations.1': { key: 'sandbox', operator: 'Exists' } },
      'scheduling.tolerations[1]',
      'Duplicate value: {"key":"sandbox","operator":"Exists"}',
    ],
  ]);
});
