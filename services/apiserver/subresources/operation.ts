import type { TokenReviewer } from '../authentication/token-reviewer.js';
import type { Authorizer } from '../authorization/authorizer.js';
import type { ResourceTable } from '../registry/resources.js';
import type { VerbDeps } from '../verbs/types.js';
import type { NodeAgents } from './connect/nodes.js';
import type { ProxyDeps } from './connect/proxy-request.js';
import type { TokenIssuer } from './tokens/issuer.js';

/** Dependencies of operations. */
export interface OperationDeps extends VerbDeps {
  readonly resources: ResourceTable;
  readonly proxying: ProxyDeps;
  readonly nodeAgents: NodeAgents;
  /** undefined: no tokens are issued. */
  readonly tokens: TokenIssuer | undefined;
  readonly tokenReviewer: TokenReviewer;
  readonly authorizers: readonly Authorizer[];
  /** Bounded in time. */
  readonly storeIsHealthy: () => Promise<boolean>;
}
