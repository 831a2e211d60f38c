const states = new Map<string, boolean>();

/** By what files are for: whether the last change of them could not be used. Of the process, as its files are. */
export const unusableFiles: ReadonlyMap<string, boolean> = states;

/** What files are for comes from the code, so there are few. */
export const noteFiles = (what: string, isUnusable: boolean): void => void states.set(what, isUnusable);
