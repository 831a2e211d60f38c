import { vocabulary } from '../../../vocabulary/vocabulary.js';

/** A body that kubectl 1.32 sent, and what it shows as the JSON of the same object (`--dry-run=client -o json`). */
export interface Captured {
  /** In the platform's words; the body has the other ones. */
  readonly type: string;
  /** Base64. */
  readonly body: string;
  /** Without kind and apiVersion. */
  readonly json: object;
}

export const spoken = vocabulary('kubernetes');
const RBAC = spoken.translate('rbac.authorization.platform.io');

export const CAPTURED: readonly Captured[] = [
  {
    type: 'core/v1.ConfigMap',
    body: 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEjkKGAoBYRIAGgdkZWZhdWx0IgAqADIAOABCABIJCgVlbXB0eRIAEgYKAXgSAXkaCgoDYmluEgMAAf8aACIA',
    json: {
      metadata: { name: 'a', namespace: 'default', creationTimestamp: null },
      data: { empty: '', x: 'y' },
      binaryData: { bin: 'AAH/' },
    },
  },
  {
    type: 'core/v1.Secret',
    body: 'azhzAAoMCgJ2MRIGU2VjcmV0EjEKGAoBcxIAGgdkZWZhdWx0IgAqADIAOABCABITCghwYXNzd29yZBIHaHVudGVyMhoAGgAiAA==',
    json: {
      metadata: { name: 's', namespace: 'default', creationTimestamp: null },
      data: { password: 'aHVudGVyMg==' },
    },
  },
  {
    type: 'apps/v1.Deployment',
    body: 'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EsUBCiYKA3dlYhIAGgdkZWZhdWx0IgAqADIAOABCAFoKCgNhcHASA3dlYhKMAQgDEgwKCgoDYXBwEgN3ZWIacgocCgASABoAIgAqADIAOABCAFoKCgNhcHASA3dlYhJSEjQKBW5naW54EgpuZ2lueDoxLjI1KgAyCwoAEAAYkD8iACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA',
    json: {
      metadata: { name: 'web', namespace: 'default', creationTimestamp: null, labels: { app: 'web' } },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { creationTimestamp: null, labels: { app: 'web' } },
          spec: {
            containers: [{ name: 'nginx', image: 'nginx:1.25', ports: [{ containerPort: 8080 }], resources: {} }],
          },
        },
        strategy: {},
      },
      status: {},
    },
  },
  {
    type: 'rbac.authorization.platform.io/v1.Role',
    body: 'azhzAAokChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgRSb2xlEmAKHQoGcmVhZGVyEgAaB2RlZmF1bHQiACoAMgA4AEIAEhwKA2dldAoEbGlzdBIAGgpjb25maWdtYXBzIgFhEiEKA2dldAoEbGlzdBIEYXBwcxoLZGVwbG95bWVudHMiAWEaACIA',
    json: {
      metadata: { name: 'reader', namespace: 'default', creationTimestamp: null },
      rules: [
        { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] },
        { verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a'] },
      ],
    },
  },
  {
    type: 'rbac.authorization.platform.io/v1.RoleBinding',
    body: 'azhzAAorChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgtSb2xlQmluZGluZxKSAQoZCgJyYhIAGgdkZWZhdWx0IgAqADIAOABCABIpCgRVc2VyEhlyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvGgRqYW5lIgASHwoOU2VydmljZUFjY291bnQSABoCc2EiB2RlZmF1bHQaKQoZcmJhYy5hdXRob3JpemF0aW9uLms4cy5pbxIEUm9sZRoGcmVhZGVyGgAiAA==',
    json: {
      metadata: { name: 'rb', namespace: 'default', creationTimestamp: null },
      subjects: [
        { kind: 'User', apiGroup: RBAC, name: 'jane' },
        { kind: 'ServiceAccount', name: 'sa', namespace: 'default' },
      ],
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reader' },
    },
  },
  {
    type: 'core/v1.Namespace',
    body: 'azhzAAoPCgJ2MRIJTmFtZXNwYWNlEhkKEQoBbhIAGgAiACoAMgA4AEIAEgAaAgoAGgAiAA==',
    json: { metadata: { name: 'n', creationTimestamp: null }, spec: {}, status: {} },
  },
  {
    type: 'core/v1.Service',
    body: 'azhzAAoNCgJ2MRIHU2VydmljZRKSAQomCgNzdmMSABoHZGVmYXVsdCIAKgAyADgAQgBaCgoDYXBwEgNzdmMSZAoeCgc4MC1odHRwEgNUQ1AYUCIKCAEQABoEaHR0cCgACh0KCDQ0My04NDQzEgNUQ1AYuwMiBwgAEPtBGgAoABIKCgNhcHASA3N2YxoAIglDbHVzdGVySVA6AEIAUgBaAGAAaAAaAgoAGgAiAA==',
    json: {
      metadata: { name: 'svc', namespace: 'default', creationTimestamp: null, labels: { app: 'svc' } },
      spec: {
        ports: [
          { name: '80-http', protocol: 'TCP', port: 80, targetPort: 'http' },
          { name: '443-8443', protocol: 'TCP', port: 443, targetPort: 8443 },
        ],
        selector: { app: 'svc' },
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    type: 'core/v1.ResourceQuota',
    body: 'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRJIChgKAXESABoHZGVmYXVsdCIAKgAyADgAQgASKgoKCgNjcHUSAwoBMQoPCgZtZW1vcnkSBQoDMUdpCgsKBHBvZHMSAwoBMhoAGgAiAA==',
    json: {
      metadata: { name: 'q', namespace: 'default', creationTimestamp: null },
      spec: { hard: { cpu: '1', memory: '1Gi', pods: '2' } },
      status: {},
    },
  },
  {
    type: 'batch/v1.Job',
    body: 'azhzAAoPCghiYXRjaC92MRIDSm9iEokBChgKAWoSABoHZGVmYXVsdCIAKgAyADgAQgASYzJhChAKABIAGgAiACoAMgA4AEIAEk0SKgoBahIHYnVzeWJveBoFc2xlZXAaATEqAEIAagByAIABAIgBAJABAKIBABoFTmV2ZXIyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBABoIIAAoADAAOgAaACIA',
    json: {
      metadata: { name: 'j', namespace: 'default', creationTimestamp: null },
      spec: {
        template: {
          metadata: { creationTimestamp: null },
          spec: {
            containers: [{ name: 'j', image: 'busybox', command: ['sleep', '1'], resources: {} }],
            restartPolicy: 'Never',
          },
        },
      },
      status: {},
    },
  },
  {
    type: 'networking.platform.io/v1.Ingress',
    body: 'azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxJwChgKAWkSABoHZGVmYXVsdCIAKgAyADgAQgASUBIUCg9mb28uZXhhbXBsZS5jb20SAXQaOAoPZm9vLmV4YW1wbGUuY29tEiUKIwohCgQvYmFyEhEiDwoDc3ZjEggKBGh0dHAQABoGUHJlZml4GgIKABoAIgA=',
    json: {
      metadata: { name: 'i', namespace: 'default', creationTimestamp: null },
      spec: {
        tls: [{ hosts: ['foo.example.com'], secretName: 't' }],
        rules: [
          {
            host: 'foo.example.com',
            http: {
              paths: [
                { path: '/bar', pathType: 'Prefix', backend: { service: { name: 'svc', port: { name: 'http' } } } },
              ],
            },
          },
        ],
      },
      status: { loadBalancer: {} },
    },
  },
  {
    type: 'policy/v1.PodDisruptionBudget',
    body: 'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSQwoaCgNwZGISABoHZGVmYXVsdCIAKgAyADgAQgASGQoJCAEQABoDNTAlEgwKCgoDYXBwEgN3ZWIaCggAGAAgACgAMAAaACIA',
    json: {
      metadata: { name: 'pdb', namespace: 'default', creationTimestamp: null },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  },
  {
    type: 'authentication.platform.io/v1.TokenRequest',
    body: 'azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIdChAKABIAGgAiACoAMgA4AEIAEgMg2AQaBAoAEgAaACIA',
    json: {
      metadata: { creationTimestamp: null },
      spec: { audiences: null, expirationSeconds: 600, boundObjectRef: null },
      status: { token: '', expirationTimestamp: null },
    },
  },
  {
    type: 'authorization.platform.io/v1.SelfSubjectAccessReview',
    body: 'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSPAoQCgASABoAIgAqADIAOABCABIeChwKB2RlZmF1bHQSA2dldBoAIgAqBHBvZHMyADoAGggIABIAGgAgABoAIgA=',
    json: {
      metadata: { creationTimestamp: null },
      spec: { resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } },
      status: { allowed: false },
    },
  },
];
