import type { ApiObject } from '../../../machinery/meta/object.js';
import { containersOf, specOf } from '../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { joined, refused } from '../refusal.js';

const ALWAYS = 'Always';

/** Nobody uses an image by knowing its name: each is pulled with the pod's own credentials (spec 2, 4.4). */
export const alwaysPullImages: AdmissionPlugin = {
  operations: ['CREATE', 'UPDATE'],
  resources: ['pods'],
  mutate: (request) => {
    if (!bringsImages(request) || request.object === undefined) return;
    for (const { container } of containersOf(specOf(request.object))) container.imagePullPolicy = ALWAYS;
  },
  validate: (request) => {
    if (!bringsImages(request) || request.object === undefined) return;
    const others = containersOf(specOf(request.object)).filter(({ container }) => container.imagePullPolicy !== ALWAYS);
    if (others.length === 0) return;
    const problems = others.map(({ list, index, container: { imagePullPolicy = '' } }) => {
      const shown = `${JSON.stringify(imagePullPolicy)}: supported values: "${ALWAYS}"`;
      return `spec.${list}[${index}].imagePullPolicy: Unsupported value: ${shown}`;
    });
    throw refused(request, joined(problems));
  },
};

/** An update that changes no image leaves the policies as they are. */
function bringsImages({ operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (subresource !== '' || object === undefined) return false;
  if (operation === 'CREATE' || oldObject === undefined) return true;
  const old = new Set(imagesOf(oldObject));
  return imagesOf(object).some((image) => !old.has(image));
}

const imagesOf = (pod: ApiObject): (string | undefined)[] =>
  containersOf(specOf(pod)).map(({ container }) => container.image);
