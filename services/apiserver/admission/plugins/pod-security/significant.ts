import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { containersOf, specOf, type Container } from '../../pods/pod.js';
import type { AdmissionRequest } from '../../plugin.js';
import type { AnnotationWords } from './words.js';

/** Whether a pod that was let in has to be looked at again: what runs changes, or with which rights. */
export function isSignificant({ operation, object, oldObject }: AdmissionRequest, words: AnnotationWords): boolean {
  if (object === undefined) return false;
  if (operation === 'CREATE' || oldObject === undefined) return true;
  return !isDeepStrictEqual(rights(object, words), rights(oldObject, words));
}

const rights = (pod: ApiObject, words: AnnotationWords): unknown =>
  containersOf(specOf(pod)).map(({ list, container }) => [list, ...rightsOf(container, pod, words)]);

function rightsOf(container: Container, { metadata }: ApiObject, words: AnnotationWords): unknown[] {
  const { name = '', image, securityContext } = container;
  const annotations = metadata.annotations ?? {};
  return [
    name,
    image,
    securityContext ?? {},
    annotations[words.appArmor + name],
    annotations[words.seccompOfContainer + name],
  ];
}
