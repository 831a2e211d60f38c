import type { FlagTable } from '../machinery/flags/flags.js';

/** Flags of the controllers of the process `certificate-signer`. */
export const CERTIFICATE_SIGNER_FLAGS = {
  clusterSigningCertFile: {
    flag: 'cluster-signing-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of the authority that signs for all signers',
  },
  clusterSigningKeyFile: {
    flag: 'cluster-signing-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'its private key',
  },
  clusterSigningApiServerClientCertFile: {
    flag: 'cluster-signing-apiserver-client-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of the authority that signs for clients of the API server, in place of one for all',
  },
  clusterSigningApiServerClientKeyFile: {
    flag: 'cluster-signing-apiserver-client-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'its private key',
  },
  clusterSigningNodeAgentClientCertFile: {
    flag: 'cluster-signing-nodeagent-client-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of the authority that signs for agents of nodes as clients, in place of one for all',
  },
  clusterSigningNodeAgentClientKeyFile: {
    flag: 'cluster-signing-nodeagent-client-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'its private key',
  },
  clusterSigningNodeAgentServingCertFile: {
    flag: 'cluster-signing-nodeagent-serving-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of the authority that signs for agents of nodes as servers, in place of one for all',
  },
  clusterSigningNodeAgentServingKeyFile: {
    flag: 'cluster-signing-nodeagent-serving-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'its private key',
  },
  clusterSigningLegacyUnknownCertFile: {
    flag: 'cluster-signing-legacy-unknown-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'certificate of the authority that signs for requests of unknown use, in place of one for all',
  },
  clusterSigningLegacyUnknownKeyFile: {
    flag: 'cluster-signing-legacy-unknown-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'its private key',
  },
  clusterSigningDurationMs: {
    flag: 'cluster-signing-duration',
    type: 'duration',
    default: '8760h',
    min: '10m',
    help: 'longest that a certificate is good for; requests may ask for less',
  },
  concurrentCertificateSigningSyncs: {
    flag: 'concurrent-certificate-signing-syncs',
    type: 'int',
    default: '5',
    min: '1',
    max: '100',
    help: 'requests that are approved, and that are signed, at once',
  },
} as const satisfies FlagTable;
