/** Runs once after `ms`, and does not keep the process. */
export type Later = (act: () => void, ms: number) => void;

export const later: Later = (act, ms) => void setTimeout(act, ms).unref();
