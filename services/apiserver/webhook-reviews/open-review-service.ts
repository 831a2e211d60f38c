import { guarded, type GuardOptions } from '../../client/remote/guarded.js';
import { openRemoteService } from '../../client/remote/open-remote-service.js';
import type { RemoteService } from '../../client/remote/remote-service.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Log } from '../../machinery/log/log.js';
import type { AskedServiceMetrics } from '../metrics/webhook-metrics.js';
import { Outages } from './outages.js';
import { ReviewService } from './review-service.js';

export interface OpenReviewService {
  /** A client configuration. */
  readonly file: string;
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
  readonly metrics: AskedServiceMetrics;
  /** Closes it. */
  readonly signal: AbortSignal;
  /** For those who cannot wait so long. */
  readonly guard?: Partial<GuardOptions> & { readonly timeoutMs?: number };
}

/** Longest time of one question, with its repetitions: a request waits for it. */
const TOTAL_MS = 30_000;
/** Longest time of one try. */
const TRY_MS = 10_000;

/** @throws {Error} In one line, for a file that cannot be used. */
export function openReviewService(o: OpenReviewService): ReviewService {
  const { name, log, vocabulary, metrics, signal, guard = {} } = o;
  const { timeoutMs = TRY_MS, ...how } = guard;
  const remote = openRemoteService(o.file, { timeoutMs, name, log, vocabulary });
  const asked = guarded(counted(remote, metrics), {
    name,
    totalMs: TOTAL_MS,
    observe: ({ outcome }) => metrics.asked(outcome),
    breakerObserver: metrics.breaker,
    ...how,
  });
  const service = new ReviewService(asked, { ...o, outages: new Outages(name, log) });
  if (signal.aborted) service.close();
  else signal.addEventListener('abort', () => service.close(), { once: true });
  return service;
}

/** Counts each try, as services are asked again when it is worth it. */
const counted = (service: RemoteService, metrics: AskedServiceMetrics): RemoteService => ({
  post: async (body, signal) => {
    const started = performance.now();
    let code = '<error>';
    try {
      const answer = await service.post(body, signal);
      code = String(answer.status);
      return answer;
    } finally {
      metrics.tried(code, (performance.now() - started) / 1000);
    }
  },
  close: () => service.close(),
});
