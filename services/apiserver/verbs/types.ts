import type { AdmissionChain } from '../admission/chain.js';
import type { Authorize } from '../authorization/stage.js';
import type { WatchMetrics } from '../metrics/watch-metrics.js';
import type { OpenStreams } from '../http/stream.js';
import type { Context, RequestVerb, ResourceRequest } from '../request/request.js';
import type { FieldOwnership } from '../registry/field-ownership.js';
import type { Reader } from '../registry/reader.js';
import type { ServedResource } from '../registry/resources.js';
import type { Writer } from '../registry/writer.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { Bodies } from './decode-body.js';
import type { WatchService } from '../registry/watch-service.js';

/** Dependencies of the verbs. */
export interface VerbDeps {
  readonly catalog: Catalog;
  readonly vocabulary: Vocabulary;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ownership: FieldOwnership;
  readonly watches: WatchService;
  readonly streams: OpenStreams;
  readonly watchMetrics: WatchMetrics;
  readonly authorize: Authorize;
  readonly admission: AdmissionChain;
  readonly bodies: Bodies;
}

/** One verb on a stored resource. Answers through `ctx`; throws StatusErrors. */
export type VerbHandler = (ctx: Context, request: ResourceRequest, served: ServedResource) => Promise<void>;

export type VerbTable = Readonly<Record<Exclude<RequestVerb, 'options'>, VerbHandler>>;
