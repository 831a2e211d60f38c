import type { Log } from '../../machinery/log/log.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import { builtInTypes } from '../../client/rest/built-in-types.js';
import type { ApiClient, ResourceClient } from '../../client/rest/client.js';
import { openApiClient } from '../../client/rest/open-client.js';
import type { Live } from '../../client/rest/resource-type.js';
import type { Pool, Body } from '../history/lines.js';
import type { Recorder } from '../history/recorder.js';
import type { Installation } from '../installation/installation.js';
import type { Pace } from './pace.js';

/** What the clients of a run share. */
export interface Scene {
  readonly installation: Installation;
  readonly recorder: Recorder;
  readonly pace: Pace;
  /** The namespace of each pool. */
  readonly namespaces: Readonly<Record<Pool, string>>;
  readonly quota: number;
  readonly names: Names;
  readonly log: Log;
}

/** Longest that a request is waited for, with its repetitions. */
const TIMEOUT_MS = 20_000;

/** A client that prefers another server than its neighbours, and goes on with the others. */
export function openClient({ installation }: Pick<Scene, 'installation'>, index: number): ApiClient {
  const { servers, trust, vocabulary } = installation;
  const first = index % servers.length;
  return openApiClient({
    servers: [...servers.slice(first), ...servers.slice(0, first)],
    trust,
    credentials: installation.credentials(),
    vocabulary,
    userAgent: `robustness/${index}`,
    qps: Infinity,
    timeoutMs: TIMEOUT_MS,
  });
}

export const configMapsOf = (
  client: ApiClient,
  { installation }: Pick<Scene, 'installation'>,
): ResourceClient<ConfigMap> => client.resource(builtInTypes(installation.vocabulary).configMaps);

/** What a history keeps of an object. */
export function bodyOf({ metadata, data }: Live<ConfigMap>): Body {
  const owner = metadata.ownerReferences?.[0]?.uid;
  return {
    uid: metadata.uid,
    labels: metadata.labels ?? {},
    data: data ?? {},
    ...(owner === undefined ? {} : { owner }),
    ...(metadata.deletionTimestamp === undefined ? {} : { deleting: true as const }),
  };
}

export const versionOf = ({ metadata }: Live<ConfigMap>): number => Number(metadata.resourceVersion);

/** Servers put objects of their own into each namespace. */
export const isOurs = ({ metadata: { name } }: Live<ConfigMap>): boolean => /^(?:o|q|parent|child|fence)-/.test(name);

/**
 * Which objects are written: a few at a time, so that clients meet; with time other ones, so that what nobody knows of an old
 * one makes no later check weaker.
 */
export class Names {
  /** Operations after which the oldest number is given up, or half of it. */
  static readonly #EVERY = 30;
  static readonly #AT_ONCE = 16;
  #taken = 0;

  /** @returns What is to be deleted now, because nothing more is done with it. */
  next(): { readonly pool: 'main' | 'family'; readonly name: string } | undefined {
    if (++this.#taken % Names.#EVERY !== 0) return undefined;
    const number = this.#oldest - 1;
    const isFirstHalf = (this.#taken / Names.#EVERY) % 2 === 0;
    return isFirstHalf ? { pool: 'main', name: `o-${number}` } : { pool: 'family', name: `parent-${number}` };
  }

  /** @param at 0 to 1 */
  choose(at: number): number {
    return this.#oldest + Math.floor(at * Names.#AT_ONCE);
  }

  get #oldest(): number {
    return Math.floor(this.#taken / (2 * Names.#EVERY));
  }
}
