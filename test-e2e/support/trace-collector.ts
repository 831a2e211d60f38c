import { once } from 'node:events';
import http2, { type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

/** What of OpenTelemetry's protocol (opentelemetry.io/docs/specs/otlp) is looked at here; the rest is left out in reading. */
const field = (type: string, id: number): object => ({ type, id });
const repeated = (type: string, id: number): object => ({ rule: 'repeated', type, id });
const message = (fields: object): object => ({ fields });
const OTLP = {
  KeyValue: message({ key: field('string', 1), value: field('AnyValue', 2) }),
  AnyValue: message({ string_value: field('string', 1), int_value: field('int64', 3) }),
  Link: message({ trace_id: field('bytes', 1), span_id: field('bytes', 2) }),
  Span: message({
    trace_id: field('bytes', 1),
    span_id: field('bytes', 2),
    parent_span_id: field('bytes', 4),
    name: field('string', 5),
    start_time_unix_nano: field('fixed64', 7),
    end_time_unix_nano: field('fixed64', 8),
    attributes: repeated('KeyValue', 9),
    links: repeated('Link', 13),
  }),
  ScopeSpans: message({ spans: repeated('Span', 2) }),
  Resource: message({ attributes: repeated('KeyValue', 1) }),
  ResourceSpans: message({ resource: field('Resource', 1), scope_spans: repeated('ScopeSpans', 2) }),
  ExportTraceServiceRequest: message({ resource_spans: repeated('ResourceSpans', 1) }),
  ExportTraceServiceResponse: message({}),
  TraceService: {
    methods: { Export: { requestType: 'ExportTraceServiceRequest', responseType: 'ExportTraceServiceResponse' } },
  },
};
const PACKAGE = ['opentelemetry', 'proto', 'collector', 'trace', 'v1'];

interface KeyValue {
  readonly key: string;
  readonly value: { readonly string_value?: string; readonly int_value?: string };
}

interface RawSpan {
  readonly trace_id: Buffer;
  readonly span_id: Buffer;
  readonly parent_span_id: Buffer;
  readonly name: string;
  readonly start_time_unix_nano: string;
  readonly end_time_unix_nano: string;
  readonly attributes: readonly KeyValue[];
  readonly links: readonly { readonly trace_id: Buffer; readonly span_id: Buffer }[];
}

interface Sent {
  readonly resource_spans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_spans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}

/** Identifiers are in hexadecimal; '' for none. */
export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly nanoseconds: bigint;
  readonly attributes: Readonly<Record<string, string>>;
  /** Traces that it came from. */
  readonly links: readonly string[];
  readonly service: string;
}

/** Takes traces by OTLP over gRPC, as collectors do. */
export class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  port = 0;
  #server: grpc.Server | undefined;

  async start(): Promise<void> {
    const nested = PACKAGE.reduceRight<object>((inner, name) => ({ nested: { [name]: inner } }), { nested: OTLP });
    const definition = fromJSON(nested, {
      keepCase: true,
      longs: String,
      defaults: true,
    });
    const service = definition[`${PACKAGE.join('.')}.TraceService`] as grpc.ServiceDefinition;
    const server = new grpc.Server();
    server.addService(service, {
      Export: (call: { readonly request: Sent }, done: (err: null, answer: object) => void) => {
        this.#take(call.request);
        done(null, {});
      },
    });
    this.port = await new Promise<number>((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${this.port}`, grpc.ServerCredentials.createInsecure(), (err, port) =>
        err === null ? resolve(port) : reject(err),
      ),
    );
    this.#server = server;
  }

  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  of(trace: string): readonly ReceivedSpan[] {
    return this.spans.filter((span) => span.trace === trace);
  }

  #take({ resource_spans }: Sent): void {
    for (const { resource, scope_spans } of resource_spans) {
      const service = told(resource.attributes)['service.name'] ?? '';
      for (const span of scope_spans.flatMap(({ spans }) => spans)) {
        this.spans.push({
          trace: span.trace_id.toString('hex'),
          id: span.span_id.toString('hex'),
          parent: span.parent_span_id.toString('hex'),
          name: span.name,
          nanoseconds: BigInt(span.end_time_unix_nano) - BigInt(span.start_time_unix_nano),
          attributes: told(span.attributes),
          links: span.links.map((link) => link.trace_id.toString('hex')),
          service,
        });
      }
    }
  }
}

const told = (attributes: readonly KeyValue[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.string_value || (value.int_value ?? '')]));

export interface GrpcForwarder {
  readonly port: number;
  /** The headers of each call, in their order. */
  readonly seen: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** Stands before a gRPC server on another port, and looks at the headers of calls. */
export async function grpcForwarder(to: number): Promise<GrpcForwarder> {
  const seen: IncomingHttpHeaders[] = [];
  const behind = http2.connect(`http://127.0.0.1:${to}`);
  behind.on('error', () => undefined);
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    const call = behind.request(headers);
    stream.on('error', () => undefined).on('close', () => call.close());
    call.on('error', () => stream.close());
    stream.pipe(call);
    let trailers: IncomingHttpHeaders = {};
    call.on('trailers', (it: IncomingHttpHeaders) => void (trailers = it));
    call.on('response', (answer, flags) => {
      if (stream.destroyed) return;
      const isAll = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, isAll ? { endStream: true } : { waitForTrailers: true });
      if (!isAll) call.pipe(stream);
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      behind.destroy();
      await closed;
    },
  };
}
