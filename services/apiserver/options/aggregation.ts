import type { FlagTable } from '../../machinery/flags/flags.js';

/** Flags of what other servers serve behind this one. */
export const AGGREGATION_FLAGS = {
  proxyClientCertFile: {
    flag: 'proxy-client-cert-file',
    type: 'string',
    metavar: 'FILE',
    help: 'client certificate by which servers of APIServices know this one, and believe who asks; read again when it changes',
  },
  proxyClientKeyFile: {
    flag: 'proxy-client-key-file',
    type: 'string',
    metavar: 'FILE',
    help: 'key of that client certificate',
  },
  enableAggregatorRouting: {
    flag: 'enable-aggregator-routing',
    type: 'bool',
    default: 'true',
    help: 'connect to the endpoints of the services of APIServices; else to their cluster IP',
  },
} as const satisfies FlagTable;
