import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import type { LoadBalancerStatus } from '../checks/load-balancers.js';
import { checkLoadBalancerStatus } from '../checks/load-balancers.js';
import type { List } from '../checks/members.js';
import { checkPort, checkRule, checkText, each, requireText } from '../checks/members.js';
import { absolutePath, ipVersion, portName, wildcardSubdomain } from '../checks/text.js';
import type { KindValidation, Problems } from '../types.js';
import type { Reference } from './references.js';
import { checkReference } from './references.js';

interface Backend {
  readonly service?: {
    readonly name?: string;
    readonly port?: { readonly name?: string; readonly number?: number };
  };
  readonly resource?: Reference;
}

interface Path {
  readonly path?: string;
  /** Always written. */
  readonly pathType?: string | null;
  readonly backend?: Backend;
}

interface Rule {
  readonly host?: string;
  readonly http?: { readonly paths?: List<Path> };
}

interface Tls {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
}

interface IngressSpec {
  readonly ingressClassName?: string;
  readonly defaultBackend?: Backend;
  readonly tls?: readonly Tls[];
  readonly rules?: readonly Rule[];
}

const specOf = (ingress: ApiObject): IngressSpec => ingress['spec'] ?? {};

function checkBackendPort(
  at: At,
  { name = '', number = 0 }: { readonly name?: string; readonly number?: number },
): void {
  if (name !== '' && number !== 0) at.invalid('', '', 'cannot set both port name & port number');
  else if (name !== '') checkRule(at, 'service.port.name', name, portName);
  else if (number !== 0) checkPort(at, 'service.port.number', number);
  else at.required('', 'port name or number is required');
}

function checkBackend(at: At, { service, resource }: Backend): void {
  if (service !== undefined && resource !== undefined) {
    at.invalid('', '', 'cannot set both resource and service backends');
  } else if (resource !== undefined) {
    checkReference(at.child('resource'), resource);
  } else if (service !== undefined) {
    requireText(at, 'service.name', service.name, dns1035Label);
    checkBackendPort(at, service.port ?? {});
  } else {
    at.invalid('', '', 'resource or service backend is required');
  }
}

const BY_CONTROLLER = 'ImplementationSpecific';
const PATH_TYPES = ['Exact', BY_CONTROLLER, 'Prefix'];
/** What would lead elsewhere once somebody tidies the path up. */
const NOT_IN_PATHS = ['//', '/./', '/../', '%2f', '%2F'];
const NOT_AT_END = ['/..', '/.'];

function checkPath({ path = '', pathType, backend = {} }: Path, at: At): void {
  if (pathType === undefined || pathType === null) {
    at.required('pathType', 'pathType must be specified');
    return;
  }
  if (pathType === BY_CONTROLLER) {
    checkText(at, 'path', path, absolutePath);
  } else if (PATH_TYPES.includes(pathType)) {
    checkRule(at, 'path', path, absolutePath);
    for (const part of NOT_IN_PATHS) if (path.includes(part)) at.invalid('path', path, `must not contain '${part}'`);
    for (const end of NOT_AT_END) if (path.endsWith(end)) at.invalid('path', path, `cannot end with '${end}'`);
  } else {
    at.notSupported('pathType', pathType, PATH_TYPES);
  }
  checkBackend(at.child('backend'), backend);
}

const checkHost = (at: At, member: string, host: string): void =>
  checkRule(at, member, host, host.includes('*') ? wildcardSubdomain : dns1123Subdomain);

function checkRules({ host = '', http }: Rule, at: At): void {
  if (host !== '') {
    if (ipVersion(host) !== 0) at.invalid('host', host, 'must be a DNS name, not an IP address');
    checkHost(at, 'host', host);
  }
  if (http === undefined) return;
  const httpAt = at.child('http');
  if ((http.paths ?? []).length === 0) httpAt.required('paths');
  each(httpAt, 'paths', http.paths, checkPath);
}

function checkIngress(ingress: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const { defaultBackend, rules = [], tls, ingressClassName } = specOf(ingress);
  if (rules.length === 0 && defaultBackend === undefined) {
    at.invalid('', rules, 'either `defaultBackend` or `rules` must be specified');
  }
  if (defaultBackend !== undefined) checkBackend(at.child('defaultBackend'), defaultBackend);
  each(at, 'rules', rules, checkRules);
  each(at, 'tls', tls, ({ hosts, secretName }, tlsAt) => {
    each(tlsAt, 'hosts', hosts, (host, hostAt) => checkHost(hostAt, '', host));
    checkText(tlsAt, 'secretName', secretName, dns1123Subdomain);
  });
  if (ingressClassName !== undefined) checkRule(at, 'ingressClassName', ingressClassName, dns1123Subdomain);
}

/** The class has been said in an annotation, and is now said where it belongs: a new ingress says it once. */
const checkClass =
  (annotation: string) =>
  (ingress: ApiObject, problems: Problems): void => {
    const { annotations = {} } = ingress.metadata;
    const { ingressClassName } = specOf(ingress);
    if (ingressClassName === undefined || !Object.hasOwn(annotations, annotation)) return;
    const why = 'can not be set when the class field is also set';
    At.root(problems, 'annotations').invalid(annotation, annotations[annotation], why);
  };

export const ingresses = ({ annotations }: Vocabulary): KindValidation => ({
  object: checkIngress,
  create: checkClass(annotations.ingressClass),
  parts: {
    status: (next, _old, problems) => {
      const { loadBalancer } = (next['status'] ?? {}) as { readonly loadBalancer?: LoadBalancerStatus };
      checkLoadBalancerStatus(At.root(problems, 'status').child('loadBalancer'), loadBalancer);
    },
  },
});
