import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { OwnerReference } from '../../../machinery/types/generated/meta.v1.js';
import type { Attributes, Decision } from '../../authorization/authorizer.js';
import type { AdmissionRequest } from '../plugin.js';
import { ask, PODS } from '../testing/pods.js';
import { ownerReferencesPermissionEnforcement } from './owner-references.js';

const resource = (group: string, version: string, name: string, kind: string, namespaced = true): ResourceDeclaration =>
  ({ group, version, resource: name, kind, namespaced }) as ResourceDeclaration;

const SERVED = {
  groups: [
    { name: '', versions: [{ version: 'v1', resources: [resource('', 'v1', 'nodes', 'Node', false)] }] },
    {
      name: 'apps',
      versions: [
        {
          version: 'v1',
          resources: [resource('apps', 'v1', 'deployments', 'Deployment'), resource('apps', 'v1', 'sets', 'Set')],
        },
      ],
    },
  ],
};
const MAPS = { ...PODS, resource: 'configmaps', kind: 'ConfigMap' };

const map = (...ownerReferences: OwnerReference[]): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'c',
    namespace: 'ns',
    ...(ownerReferences.length === 0 ? {} : { ownerReferences }),
  } as ApiObject['metadata'],
});
const owner = (
  name: string,
  blockOwnerDeletion?: boolean,
  kind = 'Deployment',
  apiVersion = 'apps/v1',
): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: `u-${name}`,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});

/** What the plugin says, and asks for. @param rights `verb group/resource/subresource namespace/name` */
async function enforce(
  rights: readonly string[],
  object: ApiObject,
  said: Partial<AdmissionRequest>,
  declaration = MAPS,
): Promise<readonly [why: string, asked: readonly string[]]> {
  const asked: string[] = [];
  const decide = (_: unknown, attributes: Attributes): Decision => {
    assert.ok(attributes.kind === 'resource');
    const { verb, group, resource: name, subresource, namespace } = attributes;
    const question = `${verb} ${group}/${name}/${subresource} ${namespace}/${attributes.name}`;
    asked.push(question);
    return rights.includes(question) ? { decision: 'allow', reason: '' } : { decision: 'noOpinion', reason: 'no role' };
  };
  const plugin = ownerReferencesPermissionEnforcement({ decide, served: () => SERVED });
  return [(await ask(plugin, object, said, declaration)).why, asked];
}

const DELETE = 'delete /configmaps/ ns/c';
const FINALIZE = 'update apps/deployments/finalizers ns/d';
const NO = 'configmaps "c" is forbidden: cannot set ';
const NO_DELETE = `${NO}an ownerRef on a resource you can't delete: no role, <nil>`;
const NO_BLOCK = `${NO}blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no role, <nil>`;
const unknown = (kind: string, version: string): string =>
  `${NO}blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${version} Kind ${kind}: no matches for kind "${kind}" in version "${version}"`;
const from = (oldObject: ApiObject): Partial<AdmissionRequest> => ({ operation: 'UPDATE', oldObject });

describe('ownerReferencesPermissionEnforcement()', () => {
  for (const [what, rights, object, said, why, asked] of [
    ['asks nothing where there is no owner', [], map(), {}, '', []],
    ['asks nothing where owners stay', [], map(owner('d', true)), from(map(owner('d', true))), '', []],
    ['asks nothing of who creates what does not block', [], map(owner('d')), {}, '', []],
    ['asks for deletion where an owner comes', [], map(owner('d')), from(map()), NO_DELETE, [DELETE]],
    ['asks for deletion where an owner goes', [], map(), from(map(owner('d'))), NO_DELETE, [DELETE]],
    ['asks for deletion where an owner changes', [], map(owner('e')), from(map(owner('d'))), NO_DELETE, [DELETE]],
    ['takes the right to delete', [DELETE], map(owner('d')), from(map()), '', [DELETE]],
    ['asks for finalizers where one blocks', [DELETE], map(owner('d', true)), from(map(owner('d'))), NO_BLOCK, [DELETE, FINALIZE]], // prettier-ignore
    ['asks for them at creation', [], map(owner('d', true)), {}, NO_BLOCK, [FINALIZE]],
    ['takes the right to finalizers', [FINALIZE], map(owner('d', true)), {}, '', [FINALIZE]],
    ['asks about each that is new', [DELETE, FINALIZE], map(owner('d', true), owner('e', true)), from(map()), NO_BLOCK, [DELETE, FINALIZE, 'update apps/deployments/finalizers ns/e']], // prettier-ignore
    ['asks nothing of one that blocked before', [DELETE], map(owner('d', true), owner('e')), from(map(owner('d', true))), '', [DELETE]], // prettier-ignore
    ['asks nothing more where none blocks any longer', [DELETE], map(owner('d', false)), from(map(owner('d', true))), '', [DELETE]], // prettier-ignore
    ['asks where one blocks again', [DELETE], map(owner('d', true)), from(map(owner('d', false))), NO_BLOCK, [DELETE, FINALIZE]], // prettier-ignore
    ['knows what is in no namespace', [], map(owner('n', true, 'Node', 'v1')), {}, NO_BLOCK, ['update /nodes/finalizers /n']], // prettier-ignore
    ['refuses a kind that is not served', [], map(owner('d', true, 'Thing')), {}, unknown('Thing', 'apps/v1'), []],
    ['refuses a version that is not served', [], map(owner('d', true, 'Deployment', 'apps/v2')), {}, unknown('Deployment', 'apps/v2'), []], // prettier-ignore
    ['takes such a kind where it does not block', [], map(owner('d', false, 'Thing')), {}, '', []],
  ] as const) {
    it(what, async () => assert.deepEqual(await enforce(rights, object, said), [why, asked]));
  }

  it('lets agents write the status of pods', async () => {
    const change = { ...from(map()), subresource: 'status' };
    assert.deepEqual(await enforce([], map(owner('d')), change, PODS), ['', []]);
    assert.equal((await enforce([], map(owner('d')), change, MAPS))[0], NO_DELETE);
  });
});
