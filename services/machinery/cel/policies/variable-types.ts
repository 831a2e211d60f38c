import { AUTHORIZER_TYPE } from '../libraries/authorizer.js';
import { BOOL, DYN, INT, listOf, mapOf, STRING, TIMESTAMP, type CelType, type ObjectType } from '../types.js';

function objectOf(name: string, members: Readonly<Record<string, CelType>>): ObjectType {
  const fields = new Map(Object.entries(members));
  return { kind: 'object', name: `kubernetes.${name}`, fields: () => fields };
}

const kind = objectOf('GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const resource = objectOf('GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const userInfo = objectOf('UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});

const REQUEST = objectOf('AdmissionRequest', {
  kind,
  resource,
  subResource: STRING,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo,
  dryRun: BOOL,
  options: DYN,
});

const NAMESPACE = objectOf('Namespace', {
  metadata: objectOf('NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: objectOf('NamespaceSpec', { finalizers: listOf(STRING) }),
  status: objectOf('NamespaceStatus', {
    conditions: listOf(
      objectOf('NamespaceCondition', {
        status: STRING,
        type: STRING,
        lastTransitionTime: TIMESTAMP,
        message: STRING,
        reason: STRING,
      }),
    ),
    phase: STRING,
  }),
});

/** What expressions about requests may name. */
export interface Declared {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Types where they are known, which they are when types alone are looked at. @default anything */
  readonly object?: CelType;
  /** @default anything */
  readonly params?: CelType;
}

export function variableTypes({
  hasParams,
  hasAuthorizer,
  object = DYN,
  params = DYN,
}: Declared): Map<string, CelType> {
  const types = new Map<string, CelType>([
    ['object', object],
    ['oldObject', object],
    ['namespaceObject', NAMESPACE],
    ['request', REQUEST],
  ]);
  if (hasParams) types.set('params', params);
  if (hasAuthorizer) types.set('authorizer', AUTHORIZER_TYPE);
  return types;
}
