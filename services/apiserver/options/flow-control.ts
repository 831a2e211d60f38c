import type { FlagTable } from '../../machinery/flags/flags.js';

/** How many requests at once, and whose first. */
export const FLOW_CONTROL_FLAGS = {
  enablePriorityAndFairness: {
    flag: 'enable-priority-and-fairness',
    type: 'bool',
    default: 'true',
    help: 'requests at once are shared out by flow schemas and priority levels; else there are just two limits',
  },
  maxRequestsInflight: {
    flag: 'max-requests-inflight',
    type: 'int',
    default: '400',
    min: '0',
    help: 'most requests at once that change nothing; 0 for no bound',
  },
  maxMutatingRequestsInflight: {
    flag: 'max-mutating-requests-inflight',
    type: 'int',
    default: '200',
    min: '0',
    help: 'most requests at once that change something; 0 for no bound. The two together are what is shared out',
  },
  requestQueueTimeoutMs: {
    flag: 'request-queue-timeout',
    type: 'duration',
    default: '15s',
    min: '100ms',
    help: 'longest that a request may wait for its turn',
  },
} as const satisfies FlagTable;
