import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { GroupValidation } from '../types.js';
import { clusterRoleBindings, roleBindings } from './bindings.js';
import { clusterRoles, roles } from './roles.js';

export const rbacValidation = (vocabulary: Vocabulary): GroupValidation => ({
  clusterrolebindings: clusterRoleBindings(vocabulary),
  clusterroles: clusterRoles,
  rolebindings: roleBindings(vocabulary),
  roles,
});
