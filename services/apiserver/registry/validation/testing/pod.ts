/** A pod that is right, for tests that change one thing about it; and the places of what they change. */
export const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    serviceAccountName: 'web',
    containers: [{ name: 'main', image: 'nginx' }],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
};
/** The container's place in changes, */
export const C = 'spec.containers.0';
/** and in problems. */
export const P = 'spec.containers[0]';
/** The volume's place in changes. */
export const V = 'spec.volumes.0';
