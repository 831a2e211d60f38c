/** How far a feature has come (spec 1, 3.3). */
export type Stage = 'alpha' | 'beta' | 'ga';

export interface Gate {
  readonly stage: Stage;
  /** The release since which it has been at this stage. */
  readonly since: string;
  /** The release that dropped the gate: the feature stayed, but can be named no more. */
  readonly removed?: string;
}

/**
 * The gates of this release. Those of alpha and beta features do what they say; the others are here so that command
 * lines which still name them get an answer that helps.
 */
export const GATES = {
  APIServerIdentity: { stage: 'alpha', since: '1.20' },
  APIListChunking: { stage: 'beta', since: '1.9' },
  APIServerTracing: { stage: 'beta', since: '1.24' }, // the configuration file turns it on; there is no need to say it twice
  EphemeralContainers: { stage: 'beta', since: '1.23' },
  LegacyServiceAccountTokenNoAutoGeneration: { stage: 'alpha', since: '1.24' },
  OpenAPIV3: { stage: 'beta', since: '1.24' },
  RemainingItemCount: { stage: 'beta', since: '1.16' },
  StorageVersionHash: { stage: 'beta', since: '1.15' },

  CSIStorageCapacity: { stage: 'ga', since: '1.24' },
  CronJobControllerV2: { stage: 'ga', since: '1.22' },
  DryRun: { stage: 'ga', since: '1.19' },
  EfficientWatchResumption: { stage: 'ga', since: '1.24' },
  IPv6DualStack: { stage: 'ga', since: '1.23' },
  ImmutableEphemeralVolumes: { stage: 'ga', since: '1.21' },
  IngressClassNamespacedParams: { stage: 'ga', since: '1.23' },
  PodDisruptionBudget: { stage: 'ga', since: '1.21' },
  PodOverhead: { stage: 'ga', since: '1.24' },
  PreferNominatedNode: { stage: 'ga', since: '1.24' },
  SelectorIndex: { stage: 'ga', since: '1.20' },
  ServerSideApply: { stage: 'ga', since: '1.22' },
  ServiceLBNodePortControl: { stage: 'ga', since: '1.24' },
  ServiceLoadBalancerClass: { stage: 'ga', since: '1.24' },
  SuspendJob: { stage: 'ga', since: '1.24' },
  WarningHeaders: { stage: 'ga', since: '1.22' },
  WatchBookmark: { stage: 'ga', since: '1.17' },

  BoundServiceAccountTokenVolume: { stage: 'ga', since: '1.22', removed: '1.23' },
  EndpointSlice: { stage: 'ga', since: '1.21', removed: '1.22' },
  NamespaceDefaultLabelName: { stage: 'ga', since: '1.22', removed: '1.24' },
  RootCAConfigMap: { stage: 'ga', since: '1.21', removed: '1.22' },
  RunAsGroup: { stage: 'ga', since: '1.21', removed: '1.22' },
  ServiceAccountIssuerDiscovery: { stage: 'ga', since: '1.21', removed: '1.23' },
  StartupProbe: { stage: 'ga', since: '1.20', removed: '1.23' },
  TokenRequest: { stage: 'ga', since: '1.20', removed: '1.21' },
} as const satisfies Readonly<Record<string, Gate>>;

export type GateName = keyof typeof GATES;

/** Gates for all features of a stage that are not named themselves. */
export const ALL_OF: ReadonlyMap<string, Stage> = new Map(
  Object.entries<Stage>({ AllAlpha: 'alpha', AllBeta: 'beta' }),
);
