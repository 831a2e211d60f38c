/** The release of the resource API that is served (design, decision 3). */
export const RELEASE = '1.24';

/** The one before. */
export const PREVIOUS_RELEASE = '1.23';

const minorOf = (release: string): number => {
  const [major = '0', minor = '0'] = release.split('.');
  return Number(major) * 1_000 + Number(minor);
};

/** How many releases ago `release` was; of one major version. */
export const releasesSince = (release: string): number => minorOf(RELEASE) - minorOf(release);

/** Has `release` come by the product's release? Absent is never. */
export const isReached = (release: string | undefined): boolean =>
  release !== undefined && minorOf(release) <= minorOf(RELEASE);

/** Served in the product's release: introduced by then (or always there), and not removed. */
export const isServed = (life: { readonly introduced?: string; readonly removed?: string }): boolean =>
  (life.introduced === undefined || isReached(life.introduced)) && !isReached(life.removed);
