export interface AudienceOptions {
  readonly apiAudiences: readonly string[];
  readonly serviceAccountIssuer: readonly string[];
}

/** Whom tokens for this server are meant for: former issuers, too, as tokens that they issued for themselves live on. */
export const audiencesOf = ({ apiAudiences, serviceAccountIssuer }: AudienceOptions): readonly string[] =>
  apiAudiences.length === 0 ? serviceAccountIssuer : apiAudiences;
