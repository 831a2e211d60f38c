import type { ApiObject } from '../../../machinery/meta/object.js';
import type { PersistentVolumeClaim } from '../../../machinery/types/generated/core.v1.js';
import type { Ingress } from '../../../machinery/types/generated/networking.v1.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { CachedObject } from '../../cache/cached-object.js';
import type { AdmissionObjects, StoredName } from '../objects.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { refused } from '../refusal.js';

export interface DefaultClassDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'derivedFromAll' | 'whenFresh'>;
}

/** How objects of one resource name their class. */
interface Classed {
  /** As of `AdmissionPlugin`. */
  readonly resource: string;
  readonly classes: StoredName;
  /** Annotations of a class; `true` makes it the default. */
  readonly isDefault: readonly string[];
  readonly names: (object: ApiObject) => boolean;
  readonly give: (object: ApiObject, name: string) => void;
  readonly several: (count: number) => string;
}

/** Gives new objects that name no class the one that is marked as the default. Several defaults: nothing is created. */
const defaultClass = ({ objects }: DefaultClassDeps, classed: Classed): AdmissionPlugin => {
  const defaults = objects.derivedFromAll(classed.classes, (all) => all.filter(isDefault(classed)).map(nameOf));
  return {
    operations: ['CREATE'],
    resources: [classed.resource],
    mutate: async (request) => {
      const { object } = request;
      if (object === undefined || request.subresource !== '' || classed.names(object)) return;
      await objects.whenFresh(request);
      const [name, ...more] = defaults();
      if (more.length > 0) throw severalDefaults(request, classed.several(more.length + 1));
      if (name !== undefined) classed.give(object, name);
    },
  };
};

const severalDefaults = (request: AdmissionRequest, why: string): Error =>
  refused(request, `Internal error occurred: ${why}`);

const nameOf = ({ name }: CachedObject): string => name;

const isDefault =
  ({ isDefault: annotations }: Classed) =>
  (object: CachedObject): boolean => {
    const { metadata } = object.parse() as ApiObject; // we encoded it
    return annotations.some((key) => metadata.annotations?.[key] === 'true');
  };

export const defaultIngressClass = (d: DefaultClassDeps): AdmissionPlugin => {
  const { groups, annotations } = d.vocabulary;
  return defaultClass(d, {
    resource: `ingresses.${groups.networking}`,
    classes: { group: groups.networking, resource: 'ingressclasses' },
    isDefault: [annotations.defaultIngressClass],
    names: (object) =>
      (object as Ingress).spec?.ingressClassName !== undefined ||
      object.metadata.annotations?.[annotations.ingressClass] !== undefined,
    give: (object, ingressClassName) => {
      object['spec'] = { ...(object as Ingress).spec, ingressClassName };
    },
    several: (count) => `${count} default IngressClasses were found, only 1 allowed`,
  });
};

export const defaultStorageClass = (d: DefaultClassDeps): AdmissionPlugin => {
  const { groups, annotations } = d.vocabulary;
  return defaultClass(d, {
    resource: 'persistentvolumeclaims',
    classes: { group: groups.storage, resource: 'storageclasses' },
    isDefault: [annotations.defaultStorageClass, annotations.betaDefaultStorageClass],
    names: (object) =>
      (object as PersistentVolumeClaim).spec?.storageClassName !== undefined ||
      object.metadata.annotations?.[annotations.betaStorageClass] !== undefined,
    give: (object, storageClassName) => {
      object['spec'] = { ...(object as PersistentVolumeClaim).spec, storageClassName };
    },
    several: (count) => `${count} default StorageClasses were found`,
  });
};
