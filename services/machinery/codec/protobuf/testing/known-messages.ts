import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { fromJSON } from '@grpc/proto-loader';

/*
 * Messages as their published proto files have them, as far as the tests need them. Written by hand, so that the
 * declarations are not compared with themselves.
 */
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  Time: ['int64 seconds = 1', 'int32 nanos = 2'],
  Quantity: ['string string = 1'],
  IntOrString: ['int64 type = 1', 'int32 intVal = 2', 'string strVal = 3'],
  FieldsV1: ['bytes Raw = 1'],
  ObjectMeta: [
    'string name = 1',
    'string generateName = 2',
    'string namespace = 3',
    'string selfLink = 4',
    'string uid = 5',
    'string resourceVersion = 6',
    'int64 generation = 7',
    'Time creationTimestamp = 8',
    'Time deletionTimestamp = 9',
    'int64 deletionGracePeriodSeconds = 10',
    'map<string, string> labels = 11',
    'map<string, string> annotations = 12',
    'repeated OwnerReference ownerReferences = 13',
    'repeated string finalizers = 14',
    'string clusterName = 15',
    'repeated ManagedFieldsEntry managedFields = 17',
  ],
  OwnerReference: [
    'string kind = 1',
    'string name = 3',
    'string uid = 4',
    'string apiVersion = 5',
    'bool controller = 6',
    'bool blockOwnerDeletion = 7',
  ],
  ManagedFieldsEntry: [
    'string manager = 1',
    'string operation = 2',
    'string apiVersion = 3',
    'Time time = 4',
    'string fieldsType = 6',
    'FieldsV1 fieldsV1 = 7',
    'string subresource = 8',
  ],
  LabelSelector: ['map<string, string> matchLabels = 1', 'repeated LabelSelectorRequirement matchExpressions = 2'],
  LabelSelectorRequirement: ['string key = 1', 'string operator = 2', 'repeated string values = 3'],

  ConfigMap: [
    'ObjectMeta metadata = 1',
    'map<string, string> data = 2',
    'map<string, bytes> binaryData = 3',
    'bool immutable = 4',
  ],
  Secret: [
    'ObjectMeta metadata = 1',
    'map<string, bytes> data = 2',
    'string type = 3',
    'map<string, string> stringData = 4',
    'bool immutable = 5',
  ],
  Namespace: ['ObjectMeta metadata = 1', 'NamespaceSpec spec = 2', 'NamespaceStatus status = 3'],
  NamespaceSpec: ['repeated string finalizers = 1'],
  NamespaceStatus: ['string phase = 1'],
  Role: ['ObjectMeta metadata = 1', 'repeated PolicyRule rules = 2'],
  PolicyRule: [
    'repeated string verbs = 1',
    'repeated string apiGroups = 2',
    'repeated string resources = 3',
    'repeated string resourceNames = 4',
    'repeated string nonResourceURLs = 5',
  ],
  Lease: ['ObjectMeta metadata = 1', 'LeaseSpec spec = 2'],
  LeaseSpec: [
    'string holderIdentity = 1',
    'int32 leaseDurationSeconds = 2',
    'Time acquireTime = 3',
    'Time renewTime = 4',
    'int32 leaseTransitions = 5',
  ],
  Event: [
    'ObjectMeta metadata = 1',
    'ObjectReference involvedObject = 2',
    'string reason = 3',
    'string message = 4',
    'EventSource source = 5',
    'Time firstTimestamp = 6',
    'Time lastTimestamp = 7',
    'int32 count = 8',
    'string type = 9',
    'Time eventTime = 10',
    'EventSeries series = 11',
    'string action = 12',
    'ObjectReference related = 13',
    'string reportingComponent = 14',
    'string reportingInstance = 15',
  ],
  ObjectReference: [
    'string kind = 1',
    'string namespace = 2',
    'string name = 3',
    'string uid = 4',
    'string apiVersion = 5',
    'string resourceVersion = 6',
    'string fieldPath = 7',
  ],
  EventSource: ['string component = 1', 'string host = 2'],
  EventSeries: ['int32 count = 1', 'Time lastObservedTime = 2'],

  Deployment: ['ObjectMeta metadata = 1', 'DeploymentSpec spec = 2', 'DeploymentStatus status = 3'],
  DeploymentSpec: [
    'int32 replicas = 1',
    'LabelSelector selector = 2',
    'PodTemplateSpec template = 3',
    'DeploymentStrategy strategy = 4',
    'int32 minReadySeconds = 5',
    'int32 revisionHistoryLimit = 6',
    'bool paused = 7',
    'int32 progressDeadlineSeconds = 9',
  ],
  DeploymentStrategy: ['string type = 1', 'RollingUpdateDeployment rollingUpdate = 2'],
  RollingUpdateDeployment: ['IntOrString maxUnavailable = 1', 'IntOrString maxSurge = 2'],
  DeploymentStatus: [
    'int64 observedGeneration = 1',
    'int32 replicas = 2',
    'int32 updatedReplicas = 3',
    'int32 availableReplicas = 4',
    'int32 unavailableReplicas = 5',
    'int32 readyReplicas = 7',
  ],
  PodTemplateSpec: ['ObjectMeta metadata = 1', 'PodSpec spec = 2'],
  Pod: ['ObjectMeta metadata = 1', 'PodSpec spec = 2', 'PodStatus status = 3'],
  PodStatus: ['string phase = 1'],
  PodSpec: [
    'repeated Volume volumes = 1',
    'repeated Container containers = 2',
    'string restartPolicy = 3',
    'int64 terminationGracePeriodSeconds = 4',
    'map<string, string> nodeSelector = 7',
    'PodSecurityContext securityContext = 14',
  ],
  PodSecurityContext: ['int64 runAsUser = 2', 'bool runAsNonRoot = 3', 'repeated int64 supplementalGroups = 4'],
  Volume: ['string name = 1', 'VolumeSource volumeSource = 2'],
  VolumeSource: [
    'EmptyDirVolumeSource emptyDir = 2',
    'SecretVolumeSource secret = 6',
    'ConfigMapVolumeSource configMap = 19',
  ],
  EmptyDirVolumeSource: ['string medium = 1', 'Quantity sizeLimit = 2'],
  SecretVolumeSource: ['string secretName = 1', 'int32 defaultMode = 3', 'bool optional = 4'],
  ConfigMapVolumeSource: [
    'LocalObjectReference localObjectReference = 1',
    'int32 defaultMode = 3',
    'bool optional = 4',
  ],
  LocalObjectReference: ['string name = 1'],
  Container: [
    'string name = 1',
    'string image = 2',
    'repeated string command = 3',
    'repeated ContainerPort ports = 6',
    'repeated EnvVar env = 7',
    'ResourceRequirements resources = 8',
    'Probe livenessProbe = 10',
    'Probe readinessProbe = 11',
    'bool stdin = 16',
  ],
  ContainerPort: [
    'string name = 1',
    'int32 hostPort = 2',
    'int32 containerPort = 3',
    'string protocol = 4',
    'string hostIP = 5',
  ],
  EnvVar: ['string name = 1', 'string value = 2', 'EnvVarSource valueFrom = 3'],
  EnvVarSource: ['ConfigMapKeySelector configMapKeyRef = 3', 'SecretKeySelector secretKeyRef = 4'],
  ConfigMapKeySelector: ['LocalObjectReference localObjectReference = 1', 'string key = 2', 'bool optional = 3'],
  SecretKeySelector: ['LocalObjectReference localObjectReference = 1', 'string key = 2', 'bool optional = 3'],
  ResourceRequirements: ['map<string, Quantity> limits = 1', 'map<string, Quantity> requests = 2'],
  Probe: [
    'ProbeHandler handler = 1',
    'int32 initialDelaySeconds = 2',
    'int32 timeoutSeconds = 3',
    'int32 periodSeconds = 4',
    'int32 successThreshold = 5',
    'int32 failureThreshold = 6',
    'int64 terminationGracePeriodSeconds = 7',
  ],
  ProbeHandler: ['ExecAction exec = 1', 'HTTPGetAction httpGet = 2', 'TCPSocketAction tcpSocket = 3'],
  ExecAction: ['repeated string command = 1'],
  HTTPGetAction: ['string path = 1', 'IntOrString port = 2', 'string host = 3', 'string scheme = 4'],
  TCPSocketAction: ['IntOrString port = 1', 'string host = 2'],
};

interface KnownField {
  readonly type: string;
  readonly id: number;
  readonly rule?: string;
  readonly keyType?: string;
}

const FIELD = /^(repeated )?(?:map<string, (\w+)>|(\w+)) (\w+) = (\d+)$/;

function fieldOf(line: string): readonly [name: string, field: KnownField] {
  const [, repeated, mapped, type = '', name = '', id] = FIELD.exec(line) ?? [];
  const field = { type: mapped ?? type, id: Number(id) };
  if (mapped !== undefined) return [name, { ...field, keyType: 'string' }];
  return [name, repeated === undefined ? field : { ...field, rule: 'repeated' }];
}

const nested = Object.fromEntries(
  Object.entries(MESSAGES).map(([name, lines]) => [name, { fields: Object.fromEntries(lines.map(fieldOf)) }]),
);
const known = fromJSON({ nested }, { longs: Number, bytes: String, keepCase: true });

/** A message as a general protobuf library writes and reads it. */
export function knownMessage(name: string): MessageTypeDefinition<object, object> {
  const found = known[name];
  if (found === undefined || !('serialize' in found)) throw new Error(`No message ${name}`);
  return found as MessageTypeDefinition<object, object>;
}
