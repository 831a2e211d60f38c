import assert from 'node:assert/strict';
import type { ColumnInput, Show } from './cell.js';
import { podCompleted, PODS } from './pods.js';

const NOW = Date.parse('2024-03-01T12:00:00Z');

function cell(show: Show, object: object): unknown {
  const input: ColumnInput = { object, first: () => undefined, all: () => [], args: [], paths: [] };
  const made = show(input);
  return typeof made === 'function' ? made(NOW) : made;
}

const running = { ready: true, state: { running: {} } };
const waiting = (reason: string): object => ({ state: { waiting: { reason } } });
const ended = (terminated: object, more: object = {}): object => ({ state: { terminated }, ...more });

describe('podStatus', () => {
  const cases: readonly (readonly [what: string, status: object, expected: string, metadata?: object])[] = [
    ['the phase', { phase: 'Pending' }, 'Pending'],
    ['the reason before the phase', { phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
    [
      'why a container waits',
      { phase: 'Pending', containerStatuses: [waiting('ImagePullBackOff')] },
      'ImagePullBackOff',
    ],
    ['the first container that is stopped', { containerStatuses: [waiting('A'), waiting('B')] }, 'A'],
    ['why a container ended', { containerStatuses: [ended({ reason: 'OOMKilled', exitCode: 137 })] }, 'OOMKilled'],
    ['its exit code', { containerStatuses: [ended({ exitCode: 2 })] }, 'ExitCode:2'],
    ['its signal', { containerStatuses: [ended({ exitCode: 0, signal: 9 })] }, 'Signal:9'],
    ['Running when others run, and the pod is ready', { containerStatuses: [ended({ reason: 'Completed' }), running], conditions: [{ type: 'Ready', status: 'True' }] }, 'Running'], // prettier-ignore
    ['NotReady when others run', { containerStatuses: [ended({ reason: 'Completed' }), running] }, 'NotReady'],
    ['Completed when none runs', { containerStatuses: [ended({ reason: 'Completed' })] }, 'Completed'],
    ['how far it is initialized', { initContainerStatuses: [ended({ exitCode: 0 }), { state: { running: {} } }] }, 'Init:1/2'], // prettier-ignore
    ['what initialization waits for', { initContainerStatuses: [waiting('ErrImagePull')] }, 'Init:ErrImagePull'],
    ['not that it waits for itself', { initContainerStatuses: [waiting('PodInitializing')] }, 'Init:0/2'],
    ['why initialization failed', { initContainerStatuses: [ended({ exitCode: 1, reason: 'Error' })] }, 'Init:Error'],
    ['its exit code', { initContainerStatuses: [ended({ exitCode: 3 })] }, 'Init:ExitCode:3'],
    ['its signal', { initContainerStatuses: [ended({ exitCode: 3, signal: 15 })] }, 'Init:Signal:15'],
    ['that it goes', { phase: 'Running', containerStatuses: [running] }, 'Terminating', { deletionTimestamp: 'x' }],
    ['that its node is lost', { phase: 'Running', reason: 'NodeLost' }, 'Unknown', { deletionTimestamp: 'x' }],
  ];
  for (const [what, status, expected, metadata = {}] of cases) {
    it(`tells ${what}: ${expected}`, () => {
      assert.equal(cell(PODS.podStatus, { metadata, spec: { initContainers: [{}, {}] }, status }), expected);
    });
  }
});

describe('podReady', () => {
  it('counts containers that run and are ready', () => {
    const containerStatuses = [
      running,
      { ready: false, state: { running: {} } },
      ended({ exitCode: 0 }, { ready: true }),
    ];
    assert.equal(cell(PODS.podReady, { spec: { containers: [{}, {}, {}] }, status: { containerStatuses } }), '1/3');
    assert.equal(cell(PODS.podReady, { spec: { containers: [{}] } }), '0/1');
  });
});

describe('podRestarts', () => {
  const restarted = (restartCount: number, finishedAt?: string): object => ({
    restartCount,
    lastState: finishedAt === undefined ? {} : { terminated: { finishedAt } },
  });
  const restarts = (status: object): unknown => cell(PODS.podRestarts, { status });

  it('adds them up and tells when the last was', () => {
    assert.equal(restarts({ containerStatuses: [restarted(0)] }), '0');
    assert.equal(restarts({ containerStatuses: [restarted(2)] }), '2');
    const both = [restarted(2, '2024-03-01T10:00:00Z'), restarted(3, '2024-03-01T11:55:00Z')];
    assert.equal(restarts({ containerStatuses: both }), '5 (5m ago)');
  });

  it('counts those of init containers while these run', () => {
    const initContainerStatuses = [{ ...restarted(4), state: { waiting: { reason: 'CrashLoopBackOff' } } }];
    assert.equal(restarts({ initContainerStatuses, containerStatuses: [restarted(1)] }), '4');
    const done = [{ ...restarted(4), state: { terminated: { exitCode: 0 } } }];
    assert.equal(restarts({ initContainerStatuses: done, containerStatuses: [restarted(1)] }), '1');
  });
});

describe('readinessGates', () => {
  it('counts those that hold', () => {
    const spec = { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] };
    const status = { conditions: [{ type: 'a', status: 'True' }, { type: 'b', status: 'False' }] }; // prettier-ignore
    assert.equal(cell(PODS.readinessGates, { spec, status }), '1/2');
    assert.equal(cell(PODS.readinessGates, {}), undefined);
  });
});

describe('podCompleted()', () => {
  it('tells of pods that have come to their end', () => {
    const reasons = ['Succeeded', 'Failed', 'Running', 'toString'].map((phase) =>
      podCompleted({ status: { phase } }).map(({ type, status, reason }) => [type, status, reason]),
    );
    assert.deepEqual(reasons, [[['Completed', 'True', 'Succeeded']], [['Completed', 'True', 'Failed']], [], []]);
  });
});
