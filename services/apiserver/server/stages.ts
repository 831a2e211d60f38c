import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { aggregation } from '../aggregation/stage.js';
import { impersonation, authentication, type AuthenticationDeps } from '../authentication/stage.js';
import { authorization, type AuthorizationDeps, type Authorize } from '../authorization/stage.js';
import {
  expectation,
  ownOrigin,
  bounds,
  respondToErrors,
  type ErrorLog,
  measure,
} from '../pipeline/exchange-stages.js';
import type { Feed } from '../cache/feed.js';
import type { DeprecatedApiMetrics } from '../metrics/deprecated-apis.js';
import type { RequestMetrics } from '../metrics/request-metrics.js';
import { requestLog } from '../pipeline/request-log.js';
import type { ProcessLog } from '../../machinery/log/log.js';
import type { LiveCatalog } from '../registry/live-catalog.js';
import type { ResourceTable } from '../registry/resources.js';
import type { TracingStages } from '../tracing/request-stages.js';
import type { VerbTable } from '../verbs/types.js';
import { deprecation, warnOfDeprecation, requestInfo } from '../pipeline/request-info.js';
import type { Stage } from '../request/request.js';
import { verb, type Operations, type VerbStageDeps } from '../verbs/dispatch.js';

export interface StageDeps {
  readonly log: ErrorLog & Pick<ProcessLog, 'info' | 'verbosity'>;
  /** Longest that a request other than a long-running one may take. */
  readonly requestTimeoutMs: number;
  /** The live catalog of what is served. */
  readonly live: Pick<LiveCatalog, 'current'>;
  readonly vocabulary: Vocabulary;
  readonly metrics: RequestMetrics;
  readonly deprecatedApis: DeprecatedApiMetrics;
  readonly authentication: AuthenticationDeps;
  /** Absent: requests are not traced. */
  readonly tracing: TracingStages | undefined;
  /** Absent: requests are not audited. */
  readonly audit: Stage | undefined;
  /** Bounds how many requests run at once. */
  readonly flowControl: Stage;
  readonly authorization: AuthorizationDeps;
  /** Asks the authorizers for a right beside that of the request. */
  readonly authorize: Authorize;
  readonly feed: Pick<Feed, 'loaded'>;
  readonly resources: ResourceTable;
  readonly verbs: VerbTable;
  readonly operations: Operations;
  readonly fresh: VerbStageDeps['fresh'];
  /** Answers what other servers behind this one serve. */
  readonly elsewhere: VerbStageDeps['elsewhere'];
  /** Absent: nothing is told of the inside. */
  readonly debugging: Stage | undefined;
  /** Health, discovery, openapi, version, metrics. */
  readonly paths: Stage;
}

/** The way of every request, outermost first. Order is decided here and nowhere else. */
export const stages = (d: StageDeps): readonly Stage[] => [
  requestLog(d.log), // sees the answer, whatever it is
  respondToErrors(d.log), // whatever is thrown below becomes a Status body
  bounds(d.requestTimeoutMs), // sets state.signal, which fires when either side gives up
  requestInfo(d.live), // sets state.info (verb, resource, namespace, name) and state.query; all below read them
  measure(d.metrics), // before authentication, so that refusals are counted too
  ...(d.tracing === undefined ? [] : [d.tracing.begin]),
  authentication(d.authentication), // sets state.user
  ...(d.tracing === undefined ? [] : [d.tracing.request]), // who asks says whether he decides what is traced
  ...(d.audit === undefined ? [] : [d.audit]), // of all that come so far, those that are refused further in as well
  expectation, // told of as all others, and nothing is done about it
  ownOrigin, // before anything is opened
  warnOfDeprecation, // those who are refused, too: their access will have to be given for another version
  impersonation(d.authorize, d.vocabulary.groups.authentication), // from here on state.user is who is acted as
  d.flowControl, // what comes from here on is work
  authorization(d.authorization),
  deprecation(d.vocabulary, d.deprecatedApis), // only for those who may: a refused request uses nothing
  aggregation(d.elsewhere), // what is not served here, but by a server behind this one
  verb(d), // a body is read here and not before
  ...(d.debugging === undefined ? [] : [d.debugging]),
  d.paths,
];
