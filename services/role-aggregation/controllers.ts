import type { ControllerGroup } from '../controllers/controller.js';
import { openRoleAggregation } from './cluster-role-aggregation.js';

/** The controllers of the process `role-aggregation`. */
export const ROLE_AGGREGATION = {
  flags: {},
  controllers: [
    {
      name: 'clusterrole-aggregation',
      account: 'clusterrole-aggregation-controller',
      isOnByDefault: true,
      open: openRoleAggregation,
    },
  ],
} as const satisfies ControllerGroup;
