import assert from 'node:assert/strict';
import { withKubectl } from './kubectl.js';

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.harbour.example.com' },
  spec: {
    group: 'harbour.example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', singular: 'boat', kind: 'Boat', shortNames: ['bt'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [{ name: 'Length', type: 'integer', jsonPath: '.spec.length' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'What lies in a harbour.',
            properties: {
              spec: {
                type: 'object',
                description: 'What it should be like.',
                properties: { length: { type: 'integer', description: 'In metres.' }, name: { type: 'string' } },
                'x-kubernetes-validations': [{ rule: 'self.length < 100', message: 'it is too long for the harbour' }],
              },
            },
          },
        },
      },
    ],
  },
};

withKubectl('works with custom types', { vocabulary: 'kubernetes', store: 'embedded' }, (client) => {
  const boat = (length: number): object => ({
    apiVersion: 'harbour.example.com/v1',
    kind: 'Boat',
    metadata: { name: 'ada' },
    spec: { length, name: 'Ada' },
  });
  const lengthOf = (): Promise<string> => client().ok(['get', 'bt', 'ada', '--output=jsonpath={.spec.length}']);

  before(async () => {
    await client().ok(['apply', '--filename=-'], JSON.stringify(DEFINITION));
    await client().ok(['wait', '--for=condition=Established', '--timeout=60s', 'crd/boats.harbour.example.com']);
  });

  it('explains them', async () => {
    assert.match(await client().ok(['explain', 'boats']), /What lies in a harbour\./);
    assert.match(await client().ok(['explain', 'boats.spec.length']), /In metres\./);
  });

  it('applies, gets, patches and deletes them', async () => {
    await client().ok(['apply', '--filename=-'], JSON.stringify(boat(7)));
    assert.match(await client().ok(['get', 'boats']), /^NAME +LENGTH\s+ada +7$/m);
    assert.match(await client().ok(['apply', '--filename=-'], JSON.stringify(boat(7))), /unchanged/);
    await client().ok(['patch', 'boat', 'ada', '--type=merge', '--patch={"spec":{"length":8}}']);
    assert.equal(await lengthOf(), '8');
    await client().ok(['apply', '--server-side', '--force-conflicts', '--filename=-'], JSON.stringify(boat(9)));
    assert.equal(await lengthOf(), '9');
    await assert.rejects(
      client().ok(['patch', 'boat', 'ada', '--type=merge', '--patch={"spec":{"length":100}}']),
      /it is too long for the harbour/,
    );
    await client().ok(['delete', 'boat', 'ada']);
  });

  it('edits them', async () => {
    await client().ok(['apply', '--filename=-'], JSON.stringify(boat(7)));
    const edit = async (script: string): Promise<string> => {
      const { stdout, stderr } = await client().run(['edit', 'boat', 'ada'], '', { KUBE_EDITOR: `sed -i ${script}` });
      return stdout + stderr;
    };
    assert.match(await edit("'s/length: 7/length: 11/'"), /boat\.harbour\.example\.com\/ada edited/);
    assert.equal(await lengthOf(), '11');
    assert.match(await edit("'s/length: 11/length: 11/'"), /no changes made/);
    await client().ok(['delete', 'boat', 'ada']);
  });
});
