import { qualifiedName } from '../../../machinery/meta/metadata.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { containersOf, specOf } from '../pods/pod.js';
import { addToleration } from '../pods/tolerations.js';
import type { AdmissionPlugin } from '../plugin.js';

/** Nodes with rare hardware are tainted by its name; pods that ask for it may run there (spec 2, 4.4). */
export function extendedResourceToleration({ labelPrefixes }: Vocabulary): AdmissionPlugin {
  const isExtended = (name: string): boolean =>
    name.includes('/') &&
    !name.includes(labelPrefixes.own) &&
    !name.startsWith('requests.') &&
    qualifiedName(`requests.${name}`).length === 0;
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: ({ object, subresource }) => {
      if (object === undefined || subresource !== '') return;
      const spec = specOf(object);
      const asked = containersOf(spec)
        .filter(({ list }) => list !== 'ephemeralContainers')
        .flatMap(({ container }) => Object.keys(container.resources?.requests ?? {}));
      for (const key of [...new Set(asked)].filter(isExtended).sort()) {
        addToleration(spec, { key, operator: 'Exists', effect: 'NoSchedule' });
      }
    },
  };
}
