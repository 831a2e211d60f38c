import { badRequest, expired, StatusError } from '../../machinery/meta/status.js';
import { frameEncoder, STORED_JSON, type FrameEncoder, type GroupKey, type WatchSink } from '../cache/watchers.js';
import type { Form } from '../http/negotiation.js';
import { booleanParameter, integerParameter } from '../http/query.js';
import { SWITCHING_PROTOCOLS, type AnswerStream } from '../http/stream.js';
import { BINARY_MESSAGES, socketWish, TEXT_MESSAGES } from '../http/watch-socket.js';
import type { Context, ResourceRequest } from '../request/request.js';
import type { VersionConversion } from '../registry/conversion/version-conversion.js';
import { readThrough } from '../registry/read-through.js';
import { watchStart } from '../registry/read-table.js';
import type { ServedResource } from '../registry/resources.js';
import type { WatchBegin } from '../registry/watch-service.js';
import { isConverted } from '../views/converted.js';
import type { View } from '../views/view.js';
import { negotiateView, type Negotiated } from '../views/views.js';
import { resourceVersionParameter, selection } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';
import { untilOver } from './watch-end.js';

/**
 * Watches without a timeout of their own end after a random time in this span, so that clients spread over replicas.
 */
const MIN_TIMEOUT_MS = 30 * 60_000;
const FUTURE_POLL_MS = 1_000;

interface WatchParameters {
  readonly resourceVersion: number | undefined;
  readonly bookmarks: boolean;
  readonly initialEvents: 'byTable' | 'send' | 'skip';
  readonly timeoutMs: number;
}

export const watch =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const negotiated = negotiateView(ctx, served, 'watch');
    const p = watchParameters(ctx.state.query);
    const key = groupKey(ctx, request, served, negotiated);
    // Where there is something to select by, it is looked at in the version that was asked for.
    const isSelected = key.filter.id !== '' || isConverted(served, negotiated.form);
    const conversion = isSelected ? served.conversion : undefined;
    const fresh = p.initialEvents === 'send' ? p.resourceVersion === undefined : needsFresh(p);
    if (fresh) await deps.reader.whenFresh(ctx.state);
    if (wantsState(p) && conversion === undefined)
      await readThrough(served.stored.cache, key.scope.namespace, key.filter, ctx.state);
    const deadline = performance.now() + p.timeoutMs;
    const stream = await openStream(deps, ctx, negotiated.form);
    try {
      if (!(await reachVersion(deps, p, deadline, stream))) return;
      await follow(deps, { served, conversion, view: negotiated.view, key, p, deadline }, stream);
    } finally {
      stream.end();
    }
  };

/** The answer goes on as chunks or frames of HTTP, or as a web socket where the client asks for one. */
async function openStream({ streams }: VerbDeps, ctx: Context, form: Form): Promise<AnswerStream> {
  const socket = socketWish(ctx);
  await ctx.state.audit?.started(socket === undefined ? 200 : SWITCHING_PROTOCOLS);
  if (socket === undefined) return streams.open(ctx, streamType(form));
  return streams.openSocket(ctx, socket, form.encoding === 'protobuf' ? BINARY_MESSAGES : TEXT_MESSAGES);
}

/** @throws {StatusError} BadRequest */
function watchParameters(query: URLSearchParams): WatchParameters {
  const resourceVersion = resourceVersionParameter(query);
  const match = query.get('resourceVersionMatch') ?? '';
  const bookmarks = booleanParameter(query, 'allowWatchBookmarks');
  const asks = query.has('sendInitialEvents');
  if (asks && match !== 'NotOlderThan') {
    throw badRequest('sendInitialEvents needs resourceVersionMatch "NotOlderThan"');
  }
  if (!asks && match !== '') throw badRequest('resourceVersionMatch is for watches with sendInitialEvents only');
  const send = booleanParameter(query, 'sendInitialEvents');
  const seconds = integerParameter(query, 'timeoutSeconds') ?? 0;
  return {
    resourceVersion,
    bookmarks,
    initialEvents: asks ? (send ? 'send' : 'skip') : 'byTable',
    timeoutMs: seconds > 0 ? Math.min(seconds * 1000, MAX_TIMER_MS) : MIN_TIMEOUT_MS * (1 + Math.random()),
  };
}
const MAX_TIMER_MS = 2 ** 31 - 1;

const needsFresh = (p: WatchParameters): boolean =>
  p.initialEvents === 'byTable' && watchStart(p.resourceVersion) === 'GetStateMostRecent';

/** Streams of JSON do not say that they are streams: clients know no such type. */
const streamType = ({ encoding, type }: Form): string => (encoding === 'json' ? type : `${type};stream=watch`);

function groupKey(
  ctx: Context,
  request: ResourceRequest,
  served: ServedResource,
  { form, view }: Negotiated,
): GroupKey {
  const selected = selection(ctx.state.query, served.declaration);
  const name = request.name === '' ? selected.name : request.name;
  const namespace = request.namespace === '' ? selected.namespace : request.namespace;
  return { scope: { namespace, name }, filter: selected.filter, encoder: encoderFor(served, form, view) };
}

/** A future version may still come: until the watch's own end. */
async function reachVersion(
  { watches, reader }: VerbDeps,
  p: WatchParameters,
  deadline: number,
  stream: AnswerStream,
): Promise<boolean> {
  const target = p.resourceVersion ?? 0;
  while (watches.revision < target) {
    const left = deadline - performance.now();
    if (left <= 0 || stream.closed) return false;
    await reader.reached(target, Math.min(left, FUTURE_POLL_MS));
  }
  return true;
}

/** A watch that may begin. */
interface Watch {
  readonly served: ServedResource;
  /** Of what is told, where that is needed. */
  readonly conversion: VersionConversion | undefined;
  readonly view: View;
  readonly key: GroupKey;
  readonly p: WatchParameters;
  /** On the monotonic clock. */
  readonly deadline: number;
}

/** Runs the watch until its time is over or either side ends it. */
async function follow(deps: VerbDeps, w: Watch, stream: AnswerStream): Promise<void> {
  const { watches, vocabulary } = deps;
  const bookmark = (annotations?: Record<string, string>): Buffer => w.view.bookmark(watches.revision, annotations);
  const over = new AbortController();
  const stop = (): void => over.abort();
  const sink = sinkOf(deps, w, stream, stop);
  const endMark = w.p.initialEvents === 'send' && w.p.bookmarks;
  const mark = { after: () => bookmark({ [vocabulary.initialEventsEndAnnotation]: 'true' }) };
  const begin: WatchBegin = wantsState(w.p)
    ? { at: 'state', encodeInitial: (o) => w.view.event('ADDED', o), ...(endMark ? mark : {}) }
    : { at: 'change', revision: w.p.resourceVersion ?? watches.revision };
  const { stored } = w.served;
  const session = w.conversion === undefined ? watches.start(stored, w.key, begin, sink) : watches.startConverted(w.conversion, stored, w.key, begin, sink); // prettier-ignore
  stream.onDrain(() => session.resume());
  stream.onClose(stop);
  try {
    session.resume();
    const sendBookmark = (): boolean => sink.write(bookmark(), 1); // a closed stream takes it in silence
    await untilOver(session, {
      deadline: w.deadline,
      over: over.signal,
      bookmark: w.p.bookmarks ? sendBookmark : undefined,
    });
  } finally {
    session.close();
  }
}

/** Everything that a watch sends goes through here, so the first of it is known. */
function sinkOf(
  { watchMetrics }: VerbDeps,
  { served, conversion, view }: Watch,
  stream: AnswerStream,
  stop: () => void,
): WatchSink {
  let opening = view.opening;
  return {
    write: (frames, count) => {
      watchMetrics.sent(served.declaration, count);
      const shown = opening?.(frames) ?? frames;
      opening = undefined;
      return stream.write(shown);
    },
    expired: () => {
      stream.write(view.error(HISTORY_IS_GONE));
      stop();
    },
    failed: (err) => {
      watchMetrics.failed(served.declaration);
      const isTold = conversion !== undefined && err instanceof StatusError;
      stream.write(view.error(isTold ? err.body() : CANNOT_BE_SHOWN));
      stop();
    },
  };
}

const wantsState = (p: WatchParameters): boolean =>
  p.initialEvents === 'send' || (p.initialEvents === 'byTable' && watchStart(p.resourceVersion) !== 'Exact');

const CANNOT_BE_SHOWN = new StatusError('InternalError', 'Internal error occurred: a change cannot be shown').body();
const HISTORY_IS_GONE = expired('too old resource version: the history that was asked for is gone').body();

/** One encoder per view: watchers that share a group must share it. */
const encoders = new WeakMap<View, FrameEncoder>();

function encoderFor(served: ServedResource, form: Form, view: View): FrameEncoder {
  if (served.servesStorageVersion && form.view === 'object' && form.encoding === 'json') return STORED_JSON;
  let encoder = encoders.get(view);
  if (encoder === undefined) encoders.set(view, (encoder = frameEncoder(view.id, view.event)));
  return encoder;
}
