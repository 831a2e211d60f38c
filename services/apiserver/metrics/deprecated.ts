import { PREVIOUS_RELEASE, releasesSince } from '../../machinery/types/release.js';
import { FlagError } from '../../machinery/flags/flags.js';

/** Which deprecated metrics are registered. */
export type ShowsDeprecated = (since: string) => boolean;

/** Releases that a deprecated metric stays on; in the next one it is hidden, and after that it is gone. */
const SHOWN_RELEASES = 3;

/**
 * The life of deprecated metrics (spec 1, 9.2): registered for three releases, then hidden for one, in which
 * `--show-hidden-metrics-for-version` brings them back.
 *
 * @param showHiddenFor The flag's value; '' when it was not given.
 * @throws {FlagError} when it names any release but the one before this: only its metrics have been hidden meanwhile
 */
export function showsDeprecated(showHiddenFor: string): ShowsDeprecated {
  if (showHiddenFor !== '' && showHiddenFor !== PREVIOUS_RELEASE) {
    throw new FlagError(
      `Cannot use --show-hidden-metrics-for-version ${JSON.stringify(showHiddenFor)}: the one release that can be named is ${PREVIOUS_RELEASE}`,
    );
  }
  return (since) => {
    const age = releasesSince(since);
    return age < SHOWN_RELEASES || (age === SHOWN_RELEASES && showHiddenFor !== '');
  };
}

/** The description of a deprecated metric. */
export const deprecatedHelp = (since: string, help: string): string => `(Deprecated from ${since}) ${help}`;
