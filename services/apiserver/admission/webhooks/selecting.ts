import type { ApiObject } from '../../../machinery/meta/object.js';
import { notFound } from '../../../machinery/meta/status.js';
import {
  EVERY_LABEL,
  labelSelectorOf,
  type LabelSelector,
  type LabelSelectorObject,
} from '../../../machinery/selectors/label-selector.js';
import type { MutatingWebhook } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { AdmissionObjects } from '../objects.js';
import type { AdmissionRequest } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' } as const;

type Labels = Readonly<Record<string, string>> | undefined;

/** Labels that objects and their namespaces have to have. */
export interface Selecting {
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** One that cannot be read, which no write lets through, excludes nothing. */
export function selectorOf(selector: MutatingWebhook['objectSelector'] = {}): LabelSelector {
  try {
    return labelSelectorOf(selector as LabelSelectorObject); // keys and operators are required
  } catch {
    return EVERY_LABEL;
  }
}

/** Whether the selectors of a webhook or a policy let a request through to it. @throws {StatusError} NotFound, of its namespace */
export function isSelected(
  objects: Pick<AdmissionObjects, 'present'>,
  { namespaceSelector, objectSelector }: Selecting,
  request: AdmissionRequest,
): Promise<boolean> | boolean {
  if (!selectsObject(objectSelector, request)) return false;
  return selectsNamespace(objects, namespaceSelector, request);
}

/** Either state counts: who takes a label off does not get past the webhook that looks for it. */
function selectsObject(selector: LabelSelector, { operation, object, oldObject }: AdmissionRequest): boolean {
  if (selector.empty) return true;
  if (operation === 'CONNECT') return false; // options of connections have no labels
  return [object, oldObject].some((state) => state !== undefined && selector.matches(state.metadata.labels));
}

/** The namespace of an object, and a namespace itself; other objects without a namespace are always let through. */
function selectsNamespace(
  objects: Pick<AdmissionObjects, 'present'>,
  selector: LabelSelector,
  request: AdmissionRequest,
): Promise<boolean> | boolean {
  if (selector.empty) return true;
  if (isNamespace(request)) return selector.matches(ownLabels(request));
  const { namespace } = request;
  if (namespace === '') return true;
  const found = objects.present(NAMESPACES, '', namespace, request);
  if (!(found instanceof Promise)) return selects(selector, found, namespace);
  return found.then((later) => selects(selector, later, namespace));
}

export const isNamespace = ({ resource }: Pick<AdmissionRequest, 'resource'>): boolean =>
  resource.group === '' && resource.resource === 'namespaces';

/** Those that it will have; through a sub-resource, those that it has. */
const ownLabels = ({ subresource, object, oldObject }: AdmissionRequest): Labels =>
  (subresource === '' ? (object ?? oldObject) : (oldObject ?? object))?.metadata.labels;

function selects(
  selector: LabelSelector,
  found: { readonly selectables: { readonly labels: ApiObject['metadata']['labels'] | undefined } } | undefined,
  namespace: string,
): boolean {
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  return selector.matches(found.selectables.labels);
}
