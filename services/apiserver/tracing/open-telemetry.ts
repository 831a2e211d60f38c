import { AsyncLocalStorage } from 'node:async_hooks';
import { hostname } from 'node:os';
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context as TraceContext,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
  TraceIdRatioBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../../machinery/log/log.js';
import { redactedText } from '../../machinery/log/redact.js';
import type { Attributes, TraceHeaders, Tracing } from '../../machinery/tracing/trace.js';
import type { TracingConfiguration } from './tracing-configuration.js';

export interface TelemetryOptions extends TracingConfiguration {
  /** `major.minor.patch` of the product. */
  readonly version: string;
  /** Which of several servers this is. */
  readonly instance: string;
  readonly log: Pick<Log, 'warn'>;
}

/** A request as a trace tells of it. */
export interface TracedRequest {
  readonly name: string;
  readonly attributes: Attributes;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Whether its client may decide that it is traced, and as a part of what. */
  readonly isTrusted: boolean;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

/** Spans that wait to be sent; more than these are dropped. */
const MAX_QUEUE = 2_048;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
/** Longest that a stop waits for the collector. */
const CLOSE_MS = 2_000;
/** Between two entries in the log. */
const QUIET_MS = 60_000;
const LIMITS = { attributeValueLengthLimit: 1_024, attributeCountLimit: 32, eventCountLimit: 8, linkCountLimit: 1 };
const MILLION = 1_000_000;
const FAILED = 500;

const propagator = new W3CTraceContextPropagator();

/** Milliseconds since 1970, more exactly than the clock of the day tells them. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

/**
 * Follows requests by OpenTelemetry and sends what it sees to a collector, by OTLP over gRPC. Only what is sampled is followed:
 * all else costs one decision. A collector that is away costs spans, and no request waits for it.
 */
export class OpenTelemetry implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #around = new AsyncLocalStorage<TraceContext>();

  constructor(o: TelemetryOptions) {
    const { samplingRatePerMillion: rate } = o;
    const root = rate > 0 ? new TraceIdRatioBasedSampler(rate / MILLION) : new AlwaysOffSampler();
    const bounds = { maxQueueSize: MAX_QUEUE, maxExportBatchSize: MAX_BATCH };
    const times = { scheduledDelayMillis: SEND_EVERY_MS, exportTimeoutMillis: SEND_WITHIN_MS };
    this.#provider = new TracerProvider({
      sampler: new ParentBasedSampler({ root }),
      spanLimits: LIMITS,
      resource: resourceFromAttributes({
        'service.name': 'apiserver',
        'service.version': o.version,
        'service.instance.id': o.instance,
        'host.name': hostname(),
      }),
      spanProcessors: [new BatchSpanProcessor({ exporter: exporterOf(o), ...bounds, ...times })],
    });
    this.#tracer = this.#provider.getTracer('apiserver', o.version);
  }

  within<T>(name: string, attributes: Attributes, work: () => T): T {
    const around = this.#around.getStore();
    if (around === undefined) return work();
    const span = this.#tracer.startSpan(name, { attributes }, around);
    return this.#around.run(trace.setSpan(around, span), () => ending(span, work));
  }

  headers(): TraceHeaders {
    const around = this.#around.getStore();
    const headers: Record<string, string> = {};
    if (around !== undefined) propagator.inject(around, headers, defaultTextMapSetter);
    return headers;
  }

  /**
   * Runs a request, and follows it where it is sampled.
   *
   * @param codeOf The code of its answer, or of the error that it ends with.
   */
  async request(request: TracedRequest, work: () => Promise<void>, codeOf: (err?: unknown) => number): Promise<void> {
    const span = this.#begin(request);
    if (!span.isRecording()) return work();
    const around = trace.setSpan(ROOT_CONTEXT, span);
    this.#tracer.startSpan('Authentication', { startTime: request.startedMs }, around).end(nowMs());
    const end = (code: number): void => {
      span.setAttribute('http.response.status_code', code);
      if (code >= FAILED) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
    try {
      await this.#around.run(around, work);
      end(codeOf());
    } catch (err) {
      end(codeOf(err));
      throw err;
    }
  }

  /** Sends what waits, if the collector takes it in time. Never throws. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
    await Promise.race([this.#provider.shutdown().catch(() => undefined), late]);
    clearTimeout(timer);
  }

  /**
   * A client that is not trusted begins a trace of its own, which only says what it came from: else anybody could have all
   * of his requests traced.
   */
  #begin({ name, attributes, headers, isTrusted, startedMs }: TracedRequest): Span {
    const from = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const options = { kind: SpanKind.SERVER, attributes, startTime: startedMs };
    const context = trace.getSpanContext(from);
    if (isTrusted || context === undefined || !isSpanContextValid(context)) {
      return this.#tracer.startSpan(name, options, from);
    }
    return this.#tracer.startSpan(name, { ...options, root: true, links: [{ context }] }, ROOT_CONTEXT);
  }
}

/** Runs `work` and ends its span with it, at once or later. */
function ending<T>(span: Span, work: () => T): T {
  const failed = (err: unknown): never => {
    // Not the error itself: what it quotes is nobody's who reads traces.
    span.setStatus({ code: SpanStatusCode.ERROR, message: redactedText(err instanceof Error ? err.name : 'failed') });
    span.end();
    throw err;
  };
  let result: T;
  try {
    result = work();
  } catch (err) {
    return failed(err);
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  const ended = result.then((value: unknown) => {
    span.end();
    return value;
  }, failed);
  return ended as T; // it resolves to what `result` does
}

/** Tells of a collector that does not take spans, at most once a minute. */
function exporterOf({ endpoint, log }: TelemetryOptions): SpanExporter {
  const exporter = new OTLPTraceExporter({ url: `http://${endpoint}`, timeoutMillis: SEND_WITHIN_MS });
  let quietUntilMs = 0;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined && performance.now() >= quietUntilMs) {
          quietUntilMs = performance.now() + QUIET_MS;
          log.warn('The collector takes no traces', { endpoint, err: result.error });
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
