import { LOG_FLAGS } from '../machinery/log/flags.js';
import type { FlagTable } from '../machinery/flags/flags.js';

const COMMON = {
  kubeconfig: {
    flag: 'kubeconfig',
    type: 'string',
    metavar: 'FILE',
    help: 'client configuration of the server to ask; without it that of the cluster in which this process is a pod',
  },
  timeoutMs: { flag: 'timeout', type: 'duration', default: '2m', min: '1s', help: 'longest that all of it may take' },
  ...LOG_FLAGS,
} as const satisfies FlagTable;

const VOCABULARY = {
  flag: 'vocabulary',
  type: 'string',
  default: 'platform',
  choices: ['platform', 'kubernetes'],
  help: 'words of names, as those of the server that the certificates are for',
} as const;

/** Flags of `make`. */
export const MAKE_FLAGS = {
  ...COMMON,
  vocabulary: VOCABULARY,
  directory: {
    flag: 'directory',
    type: 'string',
    metavar: 'DIR',
    help: 'keep what is made in folders below this one, and ask no server',
  },
  namespace: {
    flag: 'namespace',
    type: 'string',
    metavar: 'NAME',
    help: 'namespace of the secrets; by default that of the client',
  },
  prefix: { flag: 'prefix', type: 'string', help: 'put before the names of secrets, e.g. control-plane-' },
  labels: { flag: 'labels', type: 'map', help: 'labels of secrets that are made' },
  hosts: {
    flag: 'hosts',
    type: 'list',
    metavar: 'HOST,...',
    help: 'names and addresses by which API servers are reached, beside the usual ones',
  },
  etcdHosts: {
    flag: 'etcd-hosts',
    type: 'list',
    metavar: 'HOST,...',
    help: 'names and addresses of the members of etcd; without them no certificates are made for it',
  },
} as const satisfies FlagTable;

/** Flags of `check`. */
export const CHECK_FLAGS = {
  ...COMMON,
  vocabulary: VOCABULARY,
  namespace: {
    flag: 'namespace',
    type: 'string',
    metavar: 'NAME',
    default: 'default',
    help: 'namespace in which an object is written and read',
  },
} as const satisfies FlagTable;
