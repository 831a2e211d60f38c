import { LOG_FLAGS } from '../../machinery/log/flags.js';
import { gatesHelp } from '../../machinery/features/feature-gates.js';
import { PREVIOUS_RELEASE } from '../../machinery/types/release.js';
import type { FlagTable, OptionsOf } from '../../machinery/flags/flags.js';
import { STORE_FLAGS } from '../../storage/options.js';
import { ADMISSION_FLAGS } from './admission.js';
import { AGGREGATION_FLAGS } from './aggregation.js';
import { AUDIT_FLAGS } from './audit.js';
import { AUTHENTICATION_FLAGS } from './authentication.js';
import { AUTHORIZATION_FLAGS } from './authorization.js';
import { ENCRYPTION_FLAGS } from './encryption.js';
import { FLOW_CONTROL_FLAGS } from './flow-control.js';

/** The flags of the API server. Every process that runs one takes them all. */
export const API_SERVER_FLAGS = {
  vocabulary: {
    flag: 'vocabulary',
    type: 'string',
    default: 'platform',
    choices: ['platform', 'kubernetes'],
    help: "words of groups, labels and media types; fixed at a store's first start",
  },
  ...STORE_FLAGS,
  etcdCompactionIntervalMs: {
    flag: 'etcd-compaction-interval',
    type: 'duration',
    default: '5m',
    help: 'age at which history is dropped; 0 leaves compaction to others',
  },
  ...ENCRYPTION_FLAGS,
  consistentReads: {
    flag: 'consistent-reads',
    type: 'string',
    default: 'auto',
    choices: ['auto', 'cache', 'store'],
    help: 'who answers reads of the newest state: the cache once it has caught up, or the store each time',
  },
  watchHistoryBytes: {
    flag: 'watch-history-bytes',
    type: 'int',
    default: '33554432',
    min: '1048576',
    help: 'most memory for past changes, in bytes; older watches are served by the store',
  },
  eventTtlMs: { flag: 'event-ttl', type: 'duration', default: '1h', min: '1s', help: 'how long events are kept' },
  bindAddress: { flag: 'bind-address', type: 'string', default: '0.0.0.0', help: 'address to listen on' },
  securePort: {
    flag: 'secure-port',
    type: 'int',
    default: '6443',
    min: '0',
    max: '65535',
    help: 'port to listen on; 0 takes a free one',
  },
  advertiseAddress: {
    flag: 'advertise-address',
    type: 'string',
    metavar: 'ADDRESS',
    help: 'address under which others reach this server; else --bind-address, or the first of this machine',
  },
  serviceClusterIpRange: {
    flag: 'service-cluster-ip-range',
    type: 'list',
    metavar: 'CIDR,...',
    default: '10.96.0.0/12',
    help: 'addresses for services: a range, or one of each family; the same at every server of a store',
  },
  serviceNodePortRange: {
    flag: 'service-node-port-range',
    type: 'string',
    metavar: 'FIRST-LAST',
    default: '30000-32767',
    help: "ports for services on the machines' own addresses",
  },
  tlsCertFile: {
    flag: 'tls-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'serving certificate; read again when it changes',
  },
  tlsKeyFile: { flag: 'tls-private-key-file', type: 'string', metavar: 'FILE', help: 'key of the serving certificate' },
  certDir: {
    flag: 'cert-dir',
    type: 'string',
    metavar: 'DIR',
    help: 'directory of apiserver.crt and apiserver.key, which are made there when both are missing; --tls-cert-file wins',
  },
  insecurePort: {
    flag: 'insecure-port',
    type: 'int',
    max: '0',
    help: 'nothing is served in the clear',
    deprecated: { since: '1.10', instead: 'leave it out; 0 is the one value' },
  },
  allowPrivileged: {
    flag: 'allow-privileged',
    type: 'bool',
    default: 'true',
    help: 'let containers be privileged',
  },
  ...AUTHENTICATION_FLAGS,
  ...AUTHORIZATION_FLAGS,
  ...ADMISSION_FLAGS,
  ...AUDIT_FLAGS,
  ...FLOW_CONTROL_FLAGS,
  ...AGGREGATION_FLAGS,
  nodeAgentCaFile: {
    flag: 'nodeagent-certificate-authority',
    type: 'string',
    metavar: 'FILE',
    help: "authorities of the serving certificates of nodes' agents; without them certificates are not checked",
  },
  nodeAgentCertFile: {
    flag: 'nodeagent-client-certificate',
    type: 'string',
    metavar: 'FILE',
    help: "client certificate for nodes' agents",
  },
  nodeAgentKeyFile: {
    flag: 'nodeagent-client-key',
    type: 'string',
    metavar: 'FILE',
    help: "key of the client certificate for nodes' agents",
  },
  nodeAgentAllowLoopback: {
    flag: 'nodeagent-allow-loopback',
    type: 'bool',
    help: "let nodes' agents be at loopback addresses of this machine, e.g. in tests",
  },
  nodeAgentAddressTypes: {
    flag: 'nodeagent-preferred-address-types',
    type: 'list',
    default: 'InternalIP,ExternalIP,Hostname,InternalDNS,ExternalDNS',
    help: 'which of its addresses a node is reached at, the one to prefer first',
  },
  proxyConnectTimeoutMs: {
    flag: 'proxy-connect-timeout',
    type: 'duration',
    default: '10s',
    min: '100ms',
    help: 'longest that a connection to a pod, a service or a node may take to stand',
  },
  proxyAnswerTimeoutMs: {
    flag: 'proxy-answer-timeout',
    type: 'duration',
    default: '5m',
    min: '100ms',
    max: '24h',
    help: 'longest that what is behind a proxy may take to answer',
  },
  proxyIdleTimeoutMs: {
    flag: 'proxy-idle-timeout',
    type: 'duration',
    default: '4h',
    min: '100ms',
    max: '24h',
    help: 'longest that nothing may move on a proxied connection',
  },
  runtimeConfig: {
    flag: 'runtime-config',
    type: 'map',
    metavar: 'KEY=VALUE,...',
    help: 'group versions and resources to serve or not, e.g. batch/v1beta1=false; api/all, api/ga, api/beta, api/alpha',
  },
  featureGates: {
    flag: 'feature-gates',
    type: 'map',
    metavar: 'NAME=BOOL,...',
    help: `features to turn on or off; AllAlpha and AllBeta stand for a stage. ${gatesHelp()}`,
  },
  showHiddenMetricsForVersion: {
    flag: 'show-hidden-metrics-for-version',
    type: 'string',
    metavar: 'RELEASE',
    help: `show metrics that this release hides; the one release that means anything is ${PREVIOUS_RELEASE}`,
  },
  maxRequestBodyBytes: {
    flag: 'max-request-body-bytes',
    type: 'int',
    default: '3145728',
    min: '1024',
    help: 'largest request body',
  },
  requestTimeoutMs: {
    flag: 'request-timeout',
    type: 'duration',
    default: '60s',
    min: '1s',
    help: 'longest a request other than a watch may take to arrive',
  },
  headerTimeoutMs: {
    flag: 'header-timeout',
    type: 'duration',
    default: '10s',
    min: '1s',
    help: 'longest the headers of a request may take to arrive',
  },
  maxStreams: {
    flag: 'http2-max-streams-per-connection',
    type: 'int',
    default: '1000',
    min: '1',
    help: 'requests at once on one HTTP/2 connection',
  },
  goawayChance: {
    flag: 'goaway-chance',
    type: 'decimal',
    default: '0',
    min: '0',
    max: '0.02',
    help: 'how likely a request over HTTP/2 makes its client open another connection, which a load balancer may lead elsewhere; 0 with a single server',
  },
  livezGracePeriodMs: {
    flag: 'livez-grace-period',
    type: 'duration',
    default: '0s',
    help: 'how long after the start livez answers well whatever the checks say',
  },
  shutdownDelayMs: {
    flag: 'shutdown-delay-duration',
    type: 'duration',
    default: '0s',
    help: 'how long to serve on, not ready, before stopping',
  },
  shutdownDrainMs: {
    flag: 'shutdown-drain-duration',
    type: 'duration',
    default: '10s',
    min: '100ms',
    max: '1h',
    help: 'how long requests under way may take when no new connections are taken any more',
  },
  targetRamMb: {
    flag: 'target-ram-mb',
    type: 'int',
    help: 'no effect',
    deprecated: { since: '1.19', instead: 'it does nothing; caches are bounded by --watch-history-bytes' },
  },
  deserializationCacheSize: {
    flag: 'deserialization-cache-size',
    type: 'int',
    help: 'no effect',
    deprecated: { since: '1.17', instead: 'it does nothing' },
  },
  masterServiceNamespace: {
    flag: 'master-service-namespace',
    type: 'string',
    help: 'no effect',
    deprecated: { since: '1.24', instead: 'it does nothing; the service is in the namespace default' },
  },
  profiling: {
    flag: 'profiling',
    type: 'bool',
    default: 'true',
    help: 'tell of flags, state and profiles of this process below /debug, to whom authorization lets ask',
  },
  tracingConfigFile: {
    flag: 'tracing-config-file',
    type: 'string',
    metavar: 'FILE',
    help: 'TracingConfiguration: where traces of requests are sent (OTLP over gRPC), and of how many',
  },
  ...LOG_FLAGS,
} as const satisfies FlagTable;

export type ApiServerOptions = OptionsOf<typeof API_SERVER_FLAGS>;
