import type { RequestInfo, UserInfo } from '../pipeline/request.js';

export type Decision =
  | { readonly decision: 'allow'; readonly reason: string }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'noOpinion'; readonly reason: string };

/** Answers or has no opinion; asked in order until one answers. Nobody answers: refused. An error refuses, too. */
export interface Authorizer {
  readonly name: string;
  authorize(user: UserInfo, info: RequestInfo): Promise<Decision> | Decision;
}
