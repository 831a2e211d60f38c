import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { impersonation } from '../authentication/impersonation.js';
import { authentication, type AuthenticationDeps } from '../authentication/stage.js';
import { authorization, type AuthorizationDeps, type Authorize } from '../authorization/stage.js';
import type { DeprecatedApiMetrics } from '../metrics/deprecated-apis.js';
import type { RequestMetrics } from '../metrics/request-metrics.js';
import type { ResourceTable } from '../registry/resources.js';
import type { ServedApi } from '../registry/served.js';
import type { VerbTable } from '../verbs/types.js';
import { deprecation } from './deprecation.js';
import { respondToErrors, type ErrorLog } from './errors.js';
import { measure } from './measure.js';
import type { Stage } from './request.js';
import { requestInfo } from './request-info.js';
import { verb, type Operations } from './verb.js';

export interface StageDeps {
  readonly log: ErrorLog;
  readonly api: ServedApi;
  readonly vocabulary: Vocabulary;
  readonly metrics: RequestMetrics;
  readonly deprecatedApis: DeprecatedApiMetrics;
  readonly authentication: AuthenticationDeps;
  /** Absent: nobody is told of requests. */
  readonly audit: Stage | undefined;
  /** Bounds how many requests run at once. */
  readonly flowControl: Stage;
  readonly authorization: AuthorizationDeps;
  /** Asks the authorizers for a right beside that of the request. */
  readonly authorize: Authorize;
  /** Whether the caches hold the store's state yet. */
  readonly loaded: () => boolean;
  readonly resources: ResourceTable;
  readonly verbs: VerbTable;
  readonly operations: Operations;
  /** Health, discovery, openapi, version, metrics. */
  readonly paths: Stage;
}

/** The way of every request, outermost first. Order is decided here and nowhere else. */
export const stages = (d: StageDeps): readonly Stage[] => [
  respondToErrors(d.log), // whatever is thrown below becomes a Status body
  requestInfo(d.api), // sets state.info (verb, resource, namespace, name) and state.query; all below read them
  measure(d.metrics), // before authentication, so that refusals are counted too
  authentication(d.authentication), // sets state.user
  ...(d.audit === undefined ? [] : [d.audit]), // of all that come so far, those that are refused further in as well
  impersonation(d.authorize, d.vocabulary.groups.authentication), // from here on state.user is who is acted as
  d.flowControl, // what comes from here on is work
  authorization(d.authorization),
  deprecation(d.vocabulary, d.deprecatedApis), // only for those who may: a refused request uses nothing
  verb(d), // a body is read here and not before
  d.paths,
];
