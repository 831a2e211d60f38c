import assert from 'node:assert/strict';
import { withKubectl, type Kubectl } from './kubectl.js';

const REVISION = 'deployment.kubernetes.io/revision';

interface Deployment {
  readonly metadata: {
    readonly uid: string;
    readonly generation: number;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
}

const deployment = (image: string): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
    },
  });

/** The controller's part of a rollout: a ReplicaSet of the present template, and the revision in the Deployment's status. */
async function rollOut(kubectl: Kubectl, revision: string): Promise<void> {
  const { metadata, spec } = await kubectl.json<Deployment>(['get', 'deployment', 'web']);
  const labels = { ...spec.template.metadata.labels, 'pod-template-hash': `h${revision}` };
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${revision}`,
      labels,
      annotations: { [REVISION]: revision },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid, controller: true },
      ],
    },
    spec: { selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } },
  };
  await kubectl.ok(['create', '-f', '-'], JSON.stringify(set));
  const status = {
    observedGeneration: metadata.generation,
    replicas: 1,
    updatedReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
  };
  const patch = JSON.stringify({ metadata: { annotations: { [REVISION]: revision } }, status });
  await kubectl.ok(['patch', 'deployment', 'web', '--subresource=status', '--type=merge', '-p', patch]);
}

for (const store of ['embedded', 'etcd'] as const) {
  withKubectl('rolls back', { vocabulary: 'kubernetes', store }, (client) => {
    const image = async (): Promise<string | undefined> =>
      (await client().json<Deployment>(['get', 'deployment', 'web'])).spec.template.spec.containers[0]?.image;

    it('a deployment to the template of the revision before', async () => {
      const kubectl = client();
      await kubectl.ok(['apply', '-f', '-'], deployment('i:1'));
      await rollOut(kubectl, '1');
      await kubectl.ok(['apply', '-f', '-'], deployment('i:2'));
      await rollOut(kubectl, '2');
      const { metadata } = await kubectl.json<Deployment>(['get', 'deployment', 'web']);
      assert.equal(metadata.annotations?.[REVISION], '2');
      const history = await kubectl.ok(['rollout', 'history', 'deployment/web']);
      assert.deepEqual(history.match(/^\d+(?= )/gm), ['1', '2'], history);
      assert.match(await kubectl.ok(['rollout', 'history', 'deployment/web', '--revision=1']), /Image:\s+i:1/);
      assert.match(await kubectl.ok(['rollout', 'status', 'deployment/web']), /successfully rolled out/);
      assert.match(await kubectl.ok(['rollout', 'undo', 'deployment/web']), /deployment.apps\/web rolled back/);
      assert.equal(await image(), 'i:1');
      await kubectl.ok(['rollout', 'undo', 'deployment/web', '--to-revision=2']);
      assert.equal(await image(), 'i:2');
    });
  });
}
