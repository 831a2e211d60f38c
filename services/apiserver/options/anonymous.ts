import type { ApiServerOptions } from './flags.js';

interface Parsed {
  readonly options: Pick<ApiServerOptions, 'anonymousAuth' | 'authorizationMode'>;
  /** Which options the command line set. */
  readonly given: ReadonlySet<string>;
}

/**
 * Where every user may do everything, users have at least to authenticate (spec 2, 5.7), unless the command line
 * asks for anonymous requests.
 */
export const mayBeAnonymous = ({ options, given }: Parsed): boolean =>
  options.anonymousAuth && (given.has('anonymousAuth') || !options.authorizationMode.includes('AlwaysAllow'));
