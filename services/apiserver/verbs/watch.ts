import { setTimeout as sleep } from 'node:timers/promises';
import { badRequest, expired } from '../../machinery/meta/status.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { encodeFrame, type Change } from '../cache/history.js';
import type { CachedObject } from '../cache/cached-object.js';
import { STORED_JSON, type FrameEncoder, type GroupKey } from '../cache/watchers.js';
import { negotiate } from '../http/negotiation.js';
import type { AnswerStream } from '../http/stream.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { watchStart } from '../registry/read-table.js';
import type { ServedResource } from '../registry/resources.js';
import type { WatchBegin, WatchSession } from '../registry/watch-service.js';
import { booleanParameter, integerParameter, resourceVersionParameter, selection } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** Watches without a timeout of their own end after a random time in this span, so that clients spread over replicas. */
const MIN_TIMEOUT_MS = 30 * 60_000;
const BOOKMARK_EVERY_MS = 60_000;
/** A last bookmark goes out this long before the end, so that the client can resume cheaply. */
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;
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
    negotiate(ctx.get('Accept'));
    const p = watchParameters(ctx.state.query);
    const key = groupKey(ctx, request, served);
    const fresh = p.initialEvents === 'send' ? p.resourceVersion === undefined : needsFresh(p);
    if (fresh) await deps.reader.whenFresh();
    const deadline = Date.now() + p.timeoutMs;
    const stream = deps.streams.open(ctx);
    try {
      if (!(await reachVersion(deps, p, deadline, stream))) return;
      await follow(deps, served, key, p, deadline, stream);
    } finally {
      stream.end();
    }
  };

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

function groupKey(ctx: Context, request: ResourceRequest, served: ServedResource): GroupKey {
  const selected = selection(ctx.state.query, served.declaration);
  const name = request.name === '' ? selected.name : request.name;
  const namespace = request.namespace === '' ? selected.namespace : request.namespace;
  return { scope: { namespace, name }, filter: selected.filter, encoder: encoderFor(served) };
}

/** A version that nobody has seen may still come: until the watch's own end. */
async function reachVersion(
  { watches, reader }: VerbDeps,
  p: WatchParameters,
  deadline: number,
  stream: AnswerStream,
): Promise<boolean> {
  const target = p.resourceVersion ?? 0;
  while (watches.revision < target) {
    const left = deadline - Date.now();
    if (left <= 0 || stream.closed) return false;
    await reader.reached(target, Math.min(left, FUTURE_POLL_MS));
  }
  return true;
}

/** Runs the watch until its time is over or either side ends it. */
async function follow(
  { watches, vocabulary, watchMetrics }: VerbDeps,
  served: ServedResource,
  key: GroupKey,
  p: WatchParameters,
  deadline: number,
  stream: AnswerStream,
): Promise<void> {
  const bookmark = (annotations?: Record<string, string>): Buffer =>
    bookmarkFrame(served, watches.revision, annotations);
  const over = new AbortController();
  const stop = (): void => over.abort();
  const sink = {
    write: (frames: Buffer, count: number): boolean => {
      watchMetrics.sent(served.declaration, count);
      return stream.write(frames);
    },
    expired: (): void => {
      stream.write(expiredFrame());
      stop();
    },
  };
  const endMark = p.initialEvents === 'send' && p.bookmarks;
  const mark = { after: () => bookmark({ [vocabulary.initialEventsEndAnnotation]: 'true' }) };
  const begin: WatchBegin = wantsState(p)
    ? { at: 'state', encodeInitial: (o) => encodeAs(served, 'ADDED', o), ...(endMark ? mark : {}) }
    : { at: 'change', revision: p.resourceVersion ?? watches.revision };
  const session = watches.start(served.stored, key, begin, sink);
  stream.onDrain(() => session.resume());
  stream.onClose(stop);
  try {
    session.resume();
    await untilOver(session, p, deadline, over.signal, () => sink.write(bookmark(), 1));
  } finally {
    session.close();
  }
}

const wantsState = (p: WatchParameters): boolean =>
  p.initialEvents === 'send' || (p.initialEvents === 'byTable' && watchStart(p.resourceVersion) !== 'Exact');

async function untilOver(
  session: WatchSession,
  p: WatchParameters,
  deadline: number,
  over: AbortSignal,
  sendBookmark: () => void,
): Promise<void> {
  const lastBookmarkAt = deadline - LAST_BOOKMARK_BEFORE_END_MS;
  for (;;) {
    const nowMs = Date.now();
    if (over.aborted || nowMs >= deadline) return;
    const every = nowMs + BOOKMARK_EVERY_MS * (0.8 + 0.4 * Math.random());
    const wake = !p.bookmarks ? deadline : nowMs < lastBookmarkAt ? Math.min(every, lastBookmarkAt) : deadline;
    // A timer may fire in the millisecond before its time: one more, so that the loop does not come round twice.
    await sleep(wake - nowMs + 1, undefined, { signal: over }).catch(() => undefined);
    if (Date.now() >= deadline || !p.bookmarks) continue;
    if (session.deliveredTo() !== undefined) sendBookmark(); // a closed stream takes it in silence
  }
}

function bookmarkFrame(
  { declaration, apiVersion }: ServedResource,
  at: number,
  annotations?: Record<string, string>,
): Buffer {
  const metadata = {
    resourceVersion: String(at),
    creationTimestamp: null,
    ...(annotations === undefined ? {} : { annotations }),
  };
  const object = { kind: declaration.kind, apiVersion, metadata };
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
}

function expiredFrame(): Buffer {
  const object = expired('too old resource version: the history that was asked for is gone').body();
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`);
}

/** One encoder per served version: watchers that share a group must share it. */
const encoders = new WeakMap<ServedResource, FrameEncoder>();

function encoderFor(served: ServedResource): FrameEncoder {
  if (served.servesStorageVersion) return STORED_JSON;
  let encoder = encoders.get(served);
  if (encoder === undefined) {
    encoder = { id: `json ${served.apiVersion}`, encode: (change, as) => encodeChange(served, change, as) };
    encoders.set(served, encoder);
  }
  return encoder;
}

function encodeChange(served: ServedResource, change: Change, as: 'same' | 'entering' | 'leaving'): Buffer {
  if (as === 'entering') return encodeAs(served, 'ADDED', change.object);
  if (as === 'same') return encodeAs(served, change.type, change.object);
  return encodeAs(
    served,
    'DELETED',
    change.deleted ? change.object : (change.previous ?? change.object).at(change.revision),
  );
}

function encodeAs(served: ServedResource, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: CachedObject): Buffer {
  if (served.servesStorageVersion) return encodeFrame(type, object);
  return Buffer.from(`${JSON.stringify({ type, object: served.fromStorage(object.parse() as ApiObject) })}\n`);
}
