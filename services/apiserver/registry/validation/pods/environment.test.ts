import { KindUnderTest } from '../testing/cases.js';
import { C, P, POD } from '../testing/pod.js';
import { DATA_KEY, ENV_NAME, QUALIFIED, SUBDOMAIN } from '../testing/words.js';

describe('environments of containers', () => {
  const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });

  describe('environment', () => {
    const from = (valueFrom: object, value?: string): object => ({ [`${C}.env`]: [{ name: 'A', value, valueFrom }] });
    const F = `${P}.env[0].valueFrom`;
    kind.refuses(POD, [
      [{ [`${C}.env`]: [{ value: 'a' }] }, `${P}.env[0].name`, 'Required value'],
      [{ [`${C}.env`]: [{ name: '1A' }] }, `${P}.env[0].name`, `Invalid value: "1A": ${ENV_NAME}`],
      [{ [`${C}.env`]: [{ name: '..' }] }, `${P}.env[0].name`, `Invalid value: "..": must not be '..'`],
      [
        { ...from({}) },
        F,
        'Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.name' } }, 'x') },
        F,
        'Invalid value: "": may not be specified when `value` is not empty',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'a', key: 'b' } }) },
        F,
        'Invalid value: "": may not have more than one field specified at a time',
      ],
      [{ ...from({ fieldRef: {} }) }, `${F}.fieldRef.fieldPath`, 'Required value'],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.whoops' } }) },
        `${F}.fieldRef.fieldPath`,
        'Invalid value: "metadata.whoops": error converting fieldPath: field label not supported: metadata.whoops',
      ],
      [
        { ...from({ fieldRef: { fieldPath: 'metadata.labels' } }) },
        `${F}.fieldRef.fieldPath`,
        'Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.podIP", "status.podIPs"',
      ],
      [
        { ...from({ fieldRef: { fieldPath: "metadata.name['a']" } }) },
        `${F}.fieldRef.fieldPath`,
        `Invalid value: "metadata.name['a']": error converting fieldPath: field label does not support subscript: metadata.name['a']`,
      ],
      [
        { ...from({ fieldRef: { fieldPath: "metadata.labels['a b']" } }) },
        `${F}.fieldRef`,
        `Invalid value: "a b": ${QUALIFIED}`,
      ],
      [
        { ...from({ fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } }) },
        `${F}.fieldRef.fieldPath`,
        'Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
      [{ ...from({ resourceFieldRef: {} }) }, `${F}.resourceFieldRef.resource`, 'Required value'],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.gpu' } }) },
        `${F}.resourceFieldRef.resource`,
        'Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      ],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1Mi' } }) },
        `${F}.resourceFieldRef.divisor`,
        `Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
      ],
      [
        { ...from({ resourceFieldRef: { resource: 'limits.memory', divisor: '1m' } }) },
        `${F}.resourceFieldRef.divisor`,
        `Invalid value: "limits.memory": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource`,
      ],
      [{ ...from({ configMapKeyRef: { key: 'a' } }) }, `${F}.configMapKeyRef.name`, `Invalid value: "": ${SUBDOMAIN}`],
      [{ ...from({ secretKeyRef: { name: 'a' } }) }, `${F}.secretKeyRef.key`, 'Required value'],
      [
        { ...from({ secretKeyRef: { name: 'a', key: 'b/c' } }) },
        `${F}.secretKeyRef.key`,
        `Invalid value: "b/c": ${DATA_KEY}`,
      ],
      [
        { [`${C}.envFrom`]: [{}] },
        `${P}.envFrom`,
        'Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      ],
      [
        { [`${C}.envFrom`]: [{ configMapRef: { name: 'a' }, secretRef: { name: 'a' } }] },
        `${P}.envFrom`,
        'Invalid value: "": may not have more than one field specified at a time',
      ],
      [{ [`${C}.envFrom`]: [{ configMapRef: {} }] }, `${P}.envFrom[0].configMapRef.name`, 'Required value'],
      [
        { [`${C}.envFrom`]: [{ prefix: 'a=', configMapRef: { name: 'a' } }] },
        `${P}.envFrom[0].prefix`,
        `Invalid value: "a=": ${ENV_NAME}`,
      ],
    ]);
    kind.accepts(POD, [
      from({ fieldRef: { fieldPath: "metadata.annotations['example.com/A']" } }) as Record<string, unknown>,
      from({ resourceFieldRef: { resource: 'requests.memory', divisor: '1Mi' } }) as Record<string, unknown>,
      { [`${C}.env`]: [{ name: '_my.env-name', value: '' }] },
    ]);
  });
});
