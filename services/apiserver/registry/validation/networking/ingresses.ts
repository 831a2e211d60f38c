import type {
  HTTPIngressPath,
  Ingress,
  IngressBackend,
  IngressSpec,
  ServiceBackendPort,
} from '../../../../machinery/types/generated/networking.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkPort, checkRule, checkText } from '../checks/at.js';
import { absolutePath, portName } from '../checks/text.js';
import type { KindValidation } from '../types.js';
import { checkReference } from './references.js';

function checkBackendPort(at: At, { name = '', number = 0 }: ServiceBackendPort): void {
  if (name !== '' && number !== 0) at.invalid('', '', 'cannot set both port name & port number');
  else if (name !== '') checkRule(at, 'service.port.name', name, portName);
  else if (number !== 0) checkPort(at, 'service.port.number', number);
  else at.required('', 'port name or number is required');
}

export function checkBackend(at: At, { service, resource }: IngressBackend): void {
  if (service !== undefined && resource !== undefined) {
    at.invalid('', '', 'cannot set both resource and service backends');
  } else if (resource !== undefined) {
    checkReference(at.child('resource'), resource);
  } else if (service !== undefined) {
    checkBackendPort(at, service.port ?? {});
  } else {
    at.invalid('', '', 'resource or service backend is required');
  }
}

const BY_CONTROLLER = 'ImplementationSpecific';
const PATH_TYPES = ['Exact', BY_CONTROLLER, 'Prefix'];
/** Segments that lead elsewhere once the path is normalized. */
const NOT_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F'];
const NOT_AT_END = ['/..', '/.'];

export function checkPath(at: At, { path = '', pathType }: HTTPIngressPath): void {
  if (pathType === undefined || pathType === null) {
    at.required('pathType', 'pathType must be specified');
  } else if (pathType === BY_CONTROLLER) {
    checkText(at, 'path', path, absolutePath);
  } else if (PATH_TYPES.includes(pathType)) {
    checkRule(at, 'path', path, absolutePath);
    for (const part of NOT_IN_PATHS) if (path.includes(part)) at.invalid('path', path, `must not contain '${part}'`);
    for (const end of NOT_AT_END) if (path.endsWith(end)) at.invalid('path', path, `cannot end with '${end}'`);
  } else {
    at.notSupported('pathType', pathType, PATH_TYPES);
  }
}

export function checkIngress(at: At, { defaultBackend, rules = [] }: IngressSpec): void {
  if (rules.length > 0 || defaultBackend !== undefined) return;
  at.invalid('', rules, 'either `defaultBackend` or `rules` must be specified');
}

/** The class has been said in an annotation, and is now said where it belongs: a new ingress says it once. */
export const ingresses = ({ annotations: { ingressClass: annotation } }: Vocabulary): KindValidation<Ingress> => ({
  create: ({ metadata: { annotations = {} }, spec }, problems) => {
    if (spec?.ingressClassName === undefined || !Object.hasOwn(annotations, annotation)) return;
    const why = 'can not be set when the class field is also set';
    At.root(problems, 'annotations').invalid(annotation, annotations[annotation], why);
  },
});
