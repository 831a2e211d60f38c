import assert from 'node:assert/strict';
import { isJsonObject } from '../../meta/own.js';
import type { JsonObject } from '../../meta/object.js';
import { decodeObject } from '../../schema/decode.js';
import { loadCatalog } from '../../types/catalog.js';
import { vocabulary } from '../../vocabulary/vocabulary.js';
import { decodeProtobuf } from './decode.js';
import { encodeProtobuf } from './encode.js';
import { knownMessage } from './testing/known-messages.js';

const { types } = loadCatalog(vocabulary('platform'));

/** The same object in both forms. Of the message, what its reader must find at least. */
interface Case {
  readonly type: string;
  readonly json: JsonObject;
  readonly message: object;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const number = (n: number): object => ({ type: 0, intVal: n, strVal: '' });
const text = (value: string): object => ({ type: 1, intVal: 0, strVal: value });

const CASES: readonly Case[] = [
  {
    type: 'core/v1.ConfigMap',
    json: {
      metadata: { name: 'a', labels: { app: 'web', 'b/c': '' } },
      immutable: false,
      data: { key: 'värde', none: '' },
      binaryData: { raw: base64('\u0000\u0001'), none: '' },
    },
    message: {
      metadata: {
        name: 'a',
        generateName: '',
        generation: 0,
        labels: { app: 'web', 'b/c': '' },
        creationTimestamp: {},
      },
      immutable: false,
      data: { key: 'värde', none: '' },
      binaryData: { raw: base64('\u0000\u0001'), none: '' },
    },
  },
  {
    type: 'core/v1.Secret',
    json: { metadata: { name: 's', resourceVersion: '7' }, data: { a: base64('b') }, type: 'Opaque' },
    message: { metadata: { name: 's', resourceVersion: '7' }, data: { a: base64('b') }, type: 'Opaque' },
  },
  {
    type: 'core/v1.Namespace',
    json: {
      metadata: {
        name: 'n',
        uid: 'u',
        creationTimestamp: '2022-05-03T00:00:00Z',
        deletionTimestamp: '1969-12-31T23:59:59Z',
        deletionGracePeriodSeconds: 0,
        generation: 9_007_199_254_740_991,
        finalizers: ['x', 'y'],
        ownerReferences: [{ kind: 'K', name: 'o', uid: 'v', apiVersion: 'g/v1', controller: true }],
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            time: '2022-05-03T00:00:01Z',
            fieldsV1: { 'f:spec': { 'k:{"a":1}': {} } },
          },
        ],
      },
      spec: { finalizers: ['own'] },
      status: { phase: 'Active' },
    },
    message: {
      metadata: {
        name: 'n',
        uid: 'u',
        creationTimestamp: { seconds: 1_651_536_000, nanos: 0 },
        deletionTimestamp: { seconds: -1, nanos: 0 },
        deletionGracePeriodSeconds: 0,
        generation: 9_007_199_254_740_991,
        finalizers: ['x', 'y'],
        ownerReferences: [{ kind: 'K', name: 'o', uid: 'v', apiVersion: 'g/v1', controller: true }],
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            time: { seconds: 1_651_536_001, nanos: 0 },
            fieldsV1: { Raw: base64('{"f:spec":{"k:{\\"a\\":1}":{}}}') },
          },
        ],
      },
      spec: { finalizers: ['own'] },
      status: { phase: 'Active' },
    },
  },
  {
    type: 'rbac.authorization.platform.io/v1.Role',
    json: {
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['*'], nonResourceURLs: ['/'] },
      ],
    },
    message: {
      rules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['*'], nonResourceURLs: ['/'] },
      ],
    },
  },
  {
    type: 'coordination.platform.io/v1.Lease',
    json: {
      metadata: { name: 'l' },
      spec: {
        holderIdentity: '',
        leaseDurationSeconds: 15,
        acquireTime: '2022-05-03T12:34:56.789012Z',
        renewTime: '1969-12-31T23:59:59.000001Z',
        leaseTransitions: 0,
      },
    },
    message: {
      metadata: { name: 'l' },
      spec: {
        holderIdentity: '',
        leaseDurationSeconds: 15,
        acquireTime: { seconds: 1_651_581_296, nanos: 789_012_000 },
        renewTime: { seconds: -1, nanos: 1000 },
        leaseTransitions: 0,
      },
    },
  },
  {
    type: 'core/v1.Event',
    json: {
      metadata: { name: 'e', namespace: 'n' },
      involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec' },
      reason: 'Made',
      source: { component: 'c' },
      firstTimestamp: '2022-05-03T00:00:00Z',
      count: 3,
      eventTime: '2022-05-03T00:00:00.000000Z',
      series: { count: 2, lastObservedTime: '2022-05-03T00:00:00.500000Z' },
      reportingComponent: 'r',
    },
    message: {
      metadata: { name: 'e', namespace: 'n' },
      involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec' },
      reason: 'Made',
      message: '',
      source: { component: 'c', host: '' },
      firstTimestamp: { seconds: 1_651_536_000, nanos: 0 },
      lastTimestamp: {},
      count: 3,
      eventTime: { seconds: 1_651_536_000, nanos: 0 },
      series: { count: 2, lastObservedTime: { seconds: 1_651_536_000, nanos: 500_000_000 } },
      reportingComponent: 'r',
      reportingInstance: '',
    },
  },
  {
    type: 'apps/v1.Deployment',
    json: {
      metadata: { name: 'd' },
      spec: {
        replicas: 0,
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: null } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: 0 } },
        paused: true,
        progressDeadlineSeconds: 600,
      },
      status: { observedGeneration: 4, readyReplicas: -1 },
    },
    message: {
      metadata: { name: 'd' },
      spec: {
        replicas: 0,
        selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        template: { metadata: { labels: { a: 'b' } }, spec: { restartPolicy: '' } },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: text('25%'), maxSurge: number(0) } },
        minReadySeconds: 0,
        paused: true,
        progressDeadlineSeconds: 600,
      },
      status: { observedGeneration: 4, replicas: 0, readyReplicas: -1 },
    },
  },
  {
    type: 'core/v1.Pod',
    json: {
      metadata: { name: 'p' },
      spec: {
        volumes: [
          { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
          { name: 'config', configMap: { name: 'c', optional: false } },
          { name: 'secret', secret: { secretName: 's', defaultMode: 420 } },
        ],
        containers: [
          {
            name: 'c',
            command: ['run', ''],
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } }],
            resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '0' } },
            livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 10 },
            readinessProbe: { tcpSocket: { port: 8080 }, terminationGracePeriodSeconds: 0 },
          },
        ],
        terminationGracePeriodSeconds: 30,
        securityContext: { runAsUser: 0, runAsNonRoot: false, supplementalGroups: [1, 0, 4_294_967_296] },
      },
    },
    message: {
      metadata: { name: 'p' },
      spec: {
        volumes: [
          { name: 'scratch', volumeSource: { emptyDir: { medium: '', sizeLimit: { string: '1Gi' } } } },
          { name: 'config', volumeSource: { configMap: { localObjectReference: { name: 'c' }, optional: false } } },
          { name: 'secret', volumeSource: { secret: { secretName: 's', defaultMode: 420 } } },
        ],
        containers: [
          {
            name: 'c',
            image: '',
            command: ['run', ''],
            ports: [{ name: '', hostPort: 0, containerPort: 80, protocol: 'TCP', hostIP: '' }],
            env: [
              {
                name: 'E',
                value: '',
                valueFrom: { configMapKeyRef: { localObjectReference: { name: 'c' }, key: 'k' } },
              },
            ],
            resources: {
              limits: { cpu: { string: '500m' }, memory: { string: '64Mi' } },
              requests: { cpu: { string: '0' } },
            },
            livenessProbe: { handler: { httpGet: { path: '/', port: text('http'), host: '' } }, periodSeconds: 10 },
            readinessProbe: { handler: { tcpSocket: { port: number(8080) } }, terminationGracePeriodSeconds: 0 },
            stdin: false,
          },
        ],
        terminationGracePeriodSeconds: 30,
        securityContext: { runAsUser: 0, runAsNonRoot: false, supplementalGroups: [1, 0, 4_294_967_296] },
      },
      status: { phase: '' },
    },
  },
];

/** Of `actual` what `shape` has too. */
function sharedPart(actual: unknown, shape: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(shape)) return actual.map((item, i) => sharedPart(item, shape[i]));
  if (!isJsonObject(actual) || !isJsonObject(shape)) return actual;
  const keys = Object.keys(shape).filter((key) => Object.hasOwn(actual, key));
  return Object.fromEntries(keys.map((key) => [key, sharedPart(actual[key], shape[key])]));
}

describe('a general protobuf library', () => {
  const normal = (type: string, object: unknown): JsonObject =>
    decodeObject(types.of(type), object).value as JsonObject;

  for (const { type, json, message } of CASES) {
    const known = knownMessage(type.slice(type.lastIndexOf('.') + 1));

    it(`reads what we write: ${type}`, () => {
      const read = known.deserialize(encodeProtobuf(types.of(type), normal(type, json)));
      assert.deepEqual(sharedPart(read, message), message);
    });

    it(`writes what we read: ${type}`, () => {
      const { apiVersion, kind, ...rest } = decodeProtobuf(types.of(type), known.serialize(message));
      assert.deepEqual(normal(type, rest), normal(type, json));
      assert.deepEqual([apiVersion, kind], type.replace('core/', '').split(/\.(?=[A-Z])/));
    });
  }
});
