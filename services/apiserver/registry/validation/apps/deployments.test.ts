import { changed, KindUnderTest } from '../testing/cases.js';
import { AT_LEAST_0, LABEL } from '../testing/words.js';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
  },
};
const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

describe('validation of deployments', () => {
  const kind = new KindUnderTest({ group: 'apps', resource: 'deployments', type: 'apps/v1.Deployment' });
  kind.acceptsManifest('a deployment', deployment);
  kind.accepts(deployment, [
    { 'spec.strategy': { type: 'Recreate' } },
    { 'spec.strategy': { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } } },
    { 'spec.selector': { matchExpressions: [{ key: 'app', operator: 'Exists' }] } },
  ]);
  kind.refuses(deployment, [
    [{ 'spec.replicas': -1 }, 'spec.replicas', `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { 'spec.selector': undefined },
      'spec.selector',
      'Required value',
      'spec.template.metadata.labels',
      'Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`',
    ],
    [{ 'spec.selector': {} }, 'spec.selector', 'Invalid value: {}: empty selector is invalid for deployment'],
    [
      { 'spec.template.metadata.labels': { app: 'db' } },
      'spec.template.metadata.labels',
      'Invalid value: map[string]string{"app":"db"}: `selector` does not match template `labels`',
    ],
    [
      { 'spec.template.spec.restartPolicy': 'Never' },
      'spec.template.spec.restartPolicy',
      'Unsupported value: "Never": supported values: "Always"',
    ],
    [
      { 'spec.strategy': { type: 'Blue' } },
      'spec.strategy.type',
      'Unsupported value: "Blue": supported values: "Recreate", "RollingUpdate"',
    ],
    [
      { 'spec.strategy': { type: 'Recreate', rollingUpdate: {} } },
      'spec.strategy.rollingUpdate',
      "Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
    [
      { 'spec.strategy.rollingUpdate': { maxSurge: 0, maxUnavailable: '0%' } },
      'spec.strategy.rollingUpdate.maxUnavailable',
      'Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ],
    [
      { 'spec.strategy.rollingUpdate': { maxUnavailable: '101%' } },
      'spec.strategy.rollingUpdate.maxUnavailable',
      'Invalid value: "101%": must not be greater than 100%',
    ],
    [
      { 'spec.strategy.rollingUpdate': { maxSurge: 'some' } },
      'spec.strategy.rollingUpdate.maxSurge',
      `Invalid value: "some": ${PERCENT}`,
    ],
    [{ 'spec.minReadySeconds': -1 }, 'spec.minReadySeconds', `Invalid value: -1: ${AT_LEAST_0}`],
    [{ 'spec.revisionHistoryLimit': -1 }, 'spec.revisionHistoryLimit', `Invalid value: -1: ${AT_LEAST_0}`],
    [
      { 'spec.progressDeadlineSeconds': 10, 'spec.minReadySeconds': 10 },
      'spec.progressDeadlineSeconds',
      'Invalid value: 10: must be greater than minReadySeconds',
    ],
    [
      {
        'spec.replicas': -1,
        'spec.template.metadata.labels': {},
        'spec.template.spec.containers.0': { name: 'UPPER' },
      },
      'spec.replicas',
      `Invalid value: -1: ${AT_LEAST_0}`,
      'spec.template.metadata.labels',
      'Invalid value: map[string]string{}: `selector` does not match template `labels`',
      'spec.template.spec.containers[0].name',
      `Invalid value: "UPPER": ${LABEL}`,
      'spec.template.spec.containers[0].image',
      'Required value',
    ],
  ]);
  kind.refusesPart('status', changed(deployment, { 'status.collisionCount': 2 }), [
    [
      { 'status.replicas': 1, 'status.availableReplicas': 1 },
      'status.availableReplicas',
      'Invalid value: 1: cannot be greater than readyReplicas',
    ],
    [{ 'status.collisionCount': 1 }, 'status.collisionCount', 'Invalid value: 1: cannot be decremented'],
    [
      { 'status.replicas': 1, 'status.updatedReplicas': 2 },
      'status.updatedReplicas',
      'Invalid value: 2: cannot be greater than status.replicas',
    ],
  ]);
});
