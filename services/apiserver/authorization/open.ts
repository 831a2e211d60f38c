import { readFileSync } from 'node:fs';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ApiServerOptions } from '../options.js';
import type { ResourceTable } from '../registry/resources.js';
import { abacAuthorizer } from './abac/authorizer.js';
import { parsePolicies, type Policy } from './abac/policies.js';
import { alwaysAllow, alwaysDeny } from './always.js';
import { openNodeAuthorizer } from './node/open.js';
import type { AccessIndex } from './rbac/access-index.js';
import { rbacAuthorizer } from './rbac/authorizer.js';
import { privilegedGroup } from './privileged.js';
import type { Authorizer } from './types.js';

export interface Authorization {
  /** In the order in which they are asked. */
  readonly authorizers: readonly Authorizer[];
}

export interface AuthorizationDeps {
  readonly vocabulary: Vocabulary;
  readonly resources: ResourceTable;
  /** Who has which roles; there whenever roles decide. */
  readonly access: AccessIndex | undefined;
}

/** Everybody who decides, as the flags say. @throws {Error} In one line, for files that cannot be used. */
export function openAuthorization(
  o: ApiServerOptions,
  { vocabulary, resources, access }: AuthorizationDeps,
): Authorization {
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    ABAC: () => abacAuthorizer(readPolicies(o.authorizationPolicyFile, vocabulary)),
    Node: () => openNodeAuthorizer(resources, vocabulary),
    RBAC: () => (access === undefined ? alwaysDeny : rbacAuthorizer(access, vocabulary.groups.rbac)),
  };
  const named = o.authorizationMode.map((mode) => modes[mode]?.() ?? alwaysDeny);
  return { authorizers: [privilegedGroup, ...named] };
}

const readPolicies = (file: string, { groups }: Vocabulary): readonly Policy[] =>
  parsePolicies(readFileSync(file, 'utf8'), file, `${groups.abac}/v1beta1`);
