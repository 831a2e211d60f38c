/** What a span says beside its name. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Headers that tell another program which trace a question belongs to. */
export type TraceHeaders = Readonly<Record<string, string>>;

/** What follows requests through a process. */
export interface Tracing {
  /** Runs `work` as a part of the request that is being traced here; just runs it where none is. */
  within<T>(name: string, attributes: Attributes, work: () => T): T;
  headers(): TraceHeaders;
}

const NO_HEADERS: TraceHeaders = {};

let active: Tracing | undefined;

/** Has all of this process traced from now on, or no more. */
export function traceBy(tracing: Tracing | undefined): void {
  active = tracing;
}

/** Runs `work`, which may take its time, and tells of it where a request is traced. Else it costs nothing. */
export const traced = <T>(name: string, attributes: Attributes, work: () => T): T =>
  active === undefined ? work() : active.within(name, attributes, work);

/** To be sent with what is asked of other programs. Empty where nothing is traced. */
export const traceHeaders = (): TraceHeaders => active?.headers() ?? NO_HEADERS;
