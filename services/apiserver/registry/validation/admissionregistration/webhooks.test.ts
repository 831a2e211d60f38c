import assert from 'node:assert/strict';
import type { Case } from '../testing/cases.js';
import { changed, KindUnderTest } from '../testing/cases.js';
import { LABEL_VALUE, SUBDOMAIN } from '../testing/words.js';

const group = 'admissionregistration.k8s.io';
const webhook = {
  name: 'pods.example.com',
  clientConfig: { service: { namespace: 'default', name: 'hook', path: '/validate' }, caBundle: 'QQ==' },
  rules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods', 'pods/status'] },
  ],
  sideEffects: 'None',
  admissionReviewVersions: ['v1', 'v1beta1'],
  namespaceSelector: { matchLabels: { hooked: 'true' } },
  timeoutSeconds: 5,
};
const W = 'webhooks.0';
const A = 'webhooks[0]';
const R = `${W}.rules.0`;
const AR = `${A}.rules[0]`;
const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

describe('validation of validating webhooks', () => {
  const kind = new KindUnderTest({
    group,
    resource: 'validatingwebhookconfigurations',
    type: `${group}/v1.ValidatingWebhookConfiguration`,
  });
  const configuration = {
    apiVersion: `${group}/v1`,
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'x' },
    webhooks: [webhook],
  };
  kind.acceptsManifest('a configuration', configuration);
  kind.accepts(configuration, [
    { webhooks: [] },
    { [`${W}.clientConfig`]: { url: 'https://hooks.example.com/validate' } },
    { [`${W}.sideEffects`]: 'NoneOnDryRun', [`${W}.admissionReviewVersions`]: ['v2', 'v1'] },
    { [`${R}.operations`]: ['*'], [`${R}.apiGroups`]: ['*'], [`${R}.apiVersions`]: ['*'], [`${R}.resources`]: ['*/*'] },
    { [`${R}.resources`]: ['*', 'pods/*', '*/scale'] },
  ]);
  kind.refuses(configuration, [
    [{ [`${W}.name`]: '' }, `${A}.name`, 'Required value'],
    [
      { [`${W}.name`]: 'example.com' },
      `${A}.name`,
      'Invalid value: "example.com": should be a domain with at least three segments separated by dots',
    ],
    [{ [`${W}.name`]: 'A.b.c' }, `${A}.name`, `Invalid value: "A.b.c": ${SUBDOMAIN}`],
    [{ 'webhooks.1': webhook }, 'webhooks[1].name', 'Duplicate value: "pods.example.com"'],
    [{ [`${W}.clientConfig`]: {} }, `${A}.clientConfig`, 'Required value: exactly one of url or service is required'],
    [
      { [`${W}.clientConfig`]: { url: 'http://a' } },
      `${A}.clientConfig.url`,
      `Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
    [
      { [`${W}.failurePolicy`]: 'Retry' },
      `${A}.failurePolicy`,
      'Unsupported value: "Retry": supported values: "Fail", "Ignore"',
    ],
    [
      { [`${W}.matchPolicy`]: 'Like' },
      `${A}.matchPolicy`,
      'Unsupported value: "Like": supported values: "Equivalent", "Exact"',
    ],
    [{ [`${W}.sideEffects`]: undefined }, `${A}.sideEffects`, 'Required value: must specify one of None, NoneOnDryRun'],
    [
      { [`${W}.sideEffects`]: 'Some' },
      `${A}.sideEffects`,
      'Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ],
    ...[0, 31].map((seconds): Case => [
      { [`${W}.timeoutSeconds`]: seconds },
      `${A}.timeoutSeconds`,
      `Invalid value: ${seconds}: the timeout value must be between 1 and 30 seconds`,
    ]),
    [
      { [`${W}.namespaceSelector.matchLabels`]: { a: 'b c' } },
      `${A}.namespaceSelector.matchLabels`,
      `Invalid value: "b c": ${LABEL_VALUE}`,
    ],
    [
      { [`${W}.objectSelector`]: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
      `${A}.objectSelector.matchExpressions[0].values`,
      "Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      { [`${W}.admissionReviewVersions`]: undefined },
      `${A}.admissionReviewVersions`,
      'Required value: must specify one of v1, v1beta1',
    ],
    [
      { [`${W}.admissionReviewVersions`]: ['v2', 'v2', '1'] },
      `${A}.admissionReviewVersions[1]`,
      'Invalid value: "v2": duplicate version',
      `${A}.admissionReviewVersions[2]`,
      `Invalid value: "1": ${DNS_1035}`,
      `${A}.admissionReviewVersions`,
      'Invalid value: []string{"v2", "v2", "1"}: must include at least one of v1, v1beta1',
    ],
    [
      { [`${W}.rules`]: [{}] },
      `${AR}.operations`,
      'Required value',
      `${AR}.apiGroups`,
      'Required value',
      `${AR}.apiVersions`,
      'Required value',
      `${AR}.resources`,
      'Required value',
    ],
    [
      { [`${R}.operations`]: ['*', 'PATCH'] },
      `${AR}.operations`,
      `Invalid value: []string{"*", "PATCH"}: if '*' is present, must not specify other operations`,
      `${AR}.operations[1]`,
      'Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
    [
      { [`${R}.apiGroups`]: ['*', ''] },
      `${AR}.apiGroups`,
      `Invalid value: []string{"*", ""}: if '*' is present, must not specify other API groups`,
    ],
    [
      { [`${R}.apiVersions`]: ['*', ''] },
      `${AR}.apiVersions`,
      `Invalid value: []string{"*", ""}: if '*' is present, must not specify other API versions`,
      `${AR}.apiVersions[1]`,
      'Required value',
    ],
    [{ [`${R}.resources`]: [''] }, `${AR}.resources[0]`, 'Required value'],
    [
      { [`${R}.resources`]: ['pods/*', 'pods/log', '*/scale', 'jobs/scale'] },
      `${AR}.resources[1]`,
      `Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      `${AR}.resources[3]`,
      `Invalid value: "jobs/scale": if '*/scale' is present, must not specify jobs/scale`,
    ],
    [
      { [`${R}.resources`]: ['*/*', 'pods'] },
      `${AR}.resources`,
      `Invalid value: []string{"*/*", "pods"}: if '*/*' is present, must not specify other resources`,
    ],
    [
      { [`${R}.resources`]: ['*', 'pods'] },
      `${AR}.resources`,
      `Invalid value: []string{"*", "pods"}: if '*' is present, must not specify other resources without subresources`,
    ],
    [
      { [`${R}.scope`]: 'Planet' },
      `${AR}.scope`,
      'Unsupported value: "Planet": supported values: "*", "Cluster", "Namespaced"',
    ],
  ]);

  it('asks no more of old ones than they did', () => {
    const old = changed(configuration, {
      [`${W}.sideEffects`]: 'Some',
      [`${W}.admissionReviewVersions`]: ['v2'],
      'webhooks.1': { ...webhook, sideEffects: 'Unknown', admissionReviewVersions: ['v2'] },
    });
    assert.equal(kind.onCreate(old).length, 5);
    assert.deepEqual(kind.onUpdate(changed(old, { [`${W}.timeoutSeconds`]: 6 }), old), []);
    assert.equal(kind.onUpdate(changed(old, { [`${W}.sideEffects`]: 'All' }), old).length, 1);
  });
});

describe('validation of mutating webhooks', () => {
  const kind = new KindUnderTest({
    group,
    resource: 'mutatingwebhookconfigurations',
    type: `${group}/v1.MutatingWebhookConfiguration`,
  });
  const configuration = {
    apiVersion: `${group}/v1`,
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'x' },
    webhooks: [{ ...webhook, reinvocationPolicy: 'IfNeeded' }],
  };
  kind.acceptsManifest('a configuration', configuration);
  kind.refuses(configuration, [
    [
      { [`${W}.reinvocationPolicy`]: 'Always' },
      `${A}.reinvocationPolicy`,
      'Unsupported value: "Always": supported values: "IfNeeded", "Never"',
    ],
  ]);
});
