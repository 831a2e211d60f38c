import { KindUnderTest } from '../testing/cases.js';

const group = 'scheduling.k8s.io';

describe('validation of priority classes', () => {
  const kind = new KindUnderTest({ group, resource: 'priorityclasses', type: `${group}/v1.PriorityClass` });
  const named = (name: string, rest: object): Readonly<Record<string, unknown>> => ({
    apiVersion: `${group}/v1`,
    kind: 'PriorityClass',
    metadata: { name },
    ...rest,
  });
  const high = named('high', { value: 1_000_000_000, globalDefault: true, preemptionPolicy: 'Never' });
  const nodeCritical = named('system-node-critical', { value: 2_000_001_000 });
  const RESERVED = "Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
  kind.acceptsManifest('a class', high);
  kind.acceptsManifest('a class of the system', nodeCritical);
  kind.acceptsManifest('another one', named('system-cluster-critical', { value: 2_000_000_000 }));
  kind.refuses(high, [
    [{ value: 1_000_000_001 }, 'value', 'Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    [
      { preemptionPolicy: 'x' },
      'preemptionPolicy',
      'Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
    ],
    [
      { 'metadata.name': 'system-mine' },
      'metadata.name',
      `${RESERVED}system-mine is not a known system priority class`,
    ],
  ]);
  kind.refuses(nodeCritical, [
    [{ value: 5 }, 'metadata.name', `${RESERVED}value of system-node-critical PriorityClass must be 2000001000`],
    [
      { globalDefault: true },
      'metadata.name',
      `${RESERVED}globalDefault of system-node-critical PriorityClass must be false`,
    ],
  ]);
  kind.refusesUpdates(high, [
    [{ value: 5 }, 'value', 'Forbidden: may not be changed in an update.'],
    [
      { preemptionPolicy: 'PreemptLowerPriority' },
      'preemptionPolicy',
      'Invalid value: "PreemptLowerPriority": field is immutable',
    ],
  ]);
  kind.acceptsUpdates(high, [{ description: 'x', globalDefault: false }]);
});
