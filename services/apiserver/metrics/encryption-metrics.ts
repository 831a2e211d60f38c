import { createHash } from 'node:crypto';
import type { KmsObserver } from '../../storage/encryption/kms/kms-provider.js';
import type { ObserveTransformation } from '../../storage/encryption/transformer.js';
import type { BreakerObserver } from '../../machinery/breaker/breaker.js';
import type { ObserveBreaker } from './breaker-metrics.js';
import type { MetricsArea, Prom, Registry } from './area.js';
import { Counts, SeriesHistogram, type HistogramSeries, type Labels } from './series.js';

/** How values are encrypted for the store, and by which services. */
export interface EncryptionMetrics {
  readonly transformed: ObserveTransformation;
  /** Of the key management service of a provider. */
  service(provider: string): KmsObserver & {
    called(method: string, code: string, seconds: number): void;
    readonly breaker: BreakerObserver;
  };
  /** A changed configuration was taken, or could not be. */
  reloaded(ok: boolean): void;
}

/** In seconds: 5 us to 80 ms, doubled each time. */
const TRANSFORMATION_BUCKETS = Array.from({ length: 15 }, (_, i) => 5e-6 * 2 ** i);
/** In seconds: 0.1 ms to 52 s. */
const CALL_BUCKETS = Array.from({ length: 20 }, (_, i) => 1e-4 * 2 ** i);
/** Keys of services that are told apart: each rotation is a new one. */
const MAX_KEYS = 100;

const KEY = ['provider_name', 'key_id_hash'];
const TRANSFORMATION = ['transformation_type', 'transformer_prefix'];
const prefixed = (name: string): string => `apiserver_envelope_encryption_${name}`;
const reloads = (name: string): string => `apiserver_encryption_config_controller_automatic_reload${name}`;

/** A service may call its keys by what should not be told. */
const hashed = (keyId: string): string =>
  keyId === '' ? '' : `sha256:${createHash('sha256').update(keyId).digest('hex')}`;

/** A histogram whose series come with their first value; its labels have few values. */
class Durations {
  readonly #histogram: SeriesHistogram;
  readonly #series = new Map<string, HistogramSeries>();

  constructor(name: string, help: string, labelNames: readonly string[], buckets: readonly number[]) {
    this.#histogram = new SeriesHistogram({ name, help: `${help}, in seconds`, labelNames, buckets });
  }

  observe(labels: Labels, seconds: number): void {
    const key = Object.values(labels).join(' ');
    const series = this.#series.get(key) ?? this.#histogram.add(labels);
    this.#series.set(key, series);
    series.observe(seconds);
  }

  register(prom: Prom, registry: Registry): void {
    this.#histogram.register(prom, registry);
  }
}

export class CountedEncryption implements EncryptionMetrics, MetricsArea {
  readonly #breakers: ObserveBreaker;
  readonly #operations = new Counts(
    'apiserver_storage_transformation_operations_total',
    'Transformations of stored values',
    [...TRANSFORMATION, 'status'],
  );
  readonly #durations = new Durations(
    'apiserver_storage_transformation_duration_seconds',
    'Time of a transformation',
    TRANSFORMATION,
    TRANSFORMATION_BUCKETS,
  );
  readonly #made = new Durations(
    'apiserver_storage_data_key_generation_duration_seconds',
    'Time to have a new key encrypted',
    [],
    CALL_BUCKETS,
  );
  readonly #unmade = new Counts(
    'apiserver_storage_data_key_generation_failures_total',
    'New keys that could not be encrypted',
    [],
  );
  readonly #missed = new Counts(
    'apiserver_storage_envelope_transformation_cache_misses_total',
    'Keys that had to be decrypted by their service',
    [],
  );
  readonly #calls = new Durations(
    prefixed('kms_operations_latency_seconds'),
    'Time of a call to a key management service',
    ['provider_name', 'method_name', 'grpc_status_code'],
    CALL_BUCKETS,
  );
  readonly #keys = new Counts(
    prefixed('key_id_hash_total'),
    'Transformations by the key of the service',
    ['transformation_type', ...KEY],
    MAX_KEYS,
  );
  readonly #keysLast = new Counts(
    prefixed('key_id_hash_last_timestamp_seconds'),
    'The last time that a key of the service was used',
    ['transformation_type', ...KEY],
    MAX_KEYS,
  );
  readonly #statusLast = new Counts(
    prefixed('key_id_hash_status_last_timestamp_seconds'),
    'The last time that a status named a key of the service',
    KEY,
    MAX_KEYS,
  );
  readonly #invalid = new Counts(
    prefixed('invalid_key_id_from_status_total'),
    'Statuses that named no key that can be used',
    ['provider_name', 'error'],
  );
  readonly #kept = new Counts(prefixed('dek_source_cache_size'), 'Decrypted keys that are kept', ['provider_name']);
  readonly #reloads = new Counts(reloads('s_total'), 'Changed configurations that were read', ['status']);
  readonly #reloadsLast = new Counts(
    reloads('_last_timestamp_seconds'),
    'The last time that a changed configuration was read',
    ['status'],
  );

  constructor(breakers: ObserveBreaker) {
    this.#breakers = breakers;
  }

  readonly transformed: ObserveTransformation = ({ direction, prefix, seconds, ok }) => {
    const labels = { transformation_type: direction, transformer_prefix: prefix === '' ? 'unknown' : prefix };
    this.#operations.add({ ...labels, status: ok ? 'OK' : 'Unknown' });
    if (ok) this.#durations.observe(labels, seconds);
  };

  service(provider_name: string): ReturnType<EncryptionMetrics['service']> {
    let last = { keyId: '', key_id_hash: '' };
    const hash = (keyId: string): string => {
      if (last.keyId !== keyId) last = { keyId, key_id_hash: hashed(keyId) };
      return last.key_id_hash;
    };
    return {
      breaker: this.#breakers(`key management service ${provider_name}`),
      called: (method_name, grpc_status_code, seconds) =>
        this.#calls.observe({ provider_name, method_name, grpc_status_code }, seconds),
      keyUsed: (transformation_type, keyId) => {
        const labels = { transformation_type, provider_name, key_id_hash: hash(keyId) };
        this.#keys.add(labels);
        this.#keysLast.set(labels, Date.now() / 1000);
      },
      statusKey: (keyId) => this.#statusLast.set({ provider_name, key_id_hash: hash(keyId) }, Date.now() / 1000),
      invalidKeyId: (error) => this.#invalid.add({ provider_name, error }),
      keyMade: (seconds, ok) => {
        if (ok) this.#made.observe({}, seconds);
        else this.#unmade.add({});
      },
      keysKept: (count) => this.#kept.set({ provider_name }, count),
      keyMissed: () => this.#missed.add({}),
    };
  }

  reloaded(ok: boolean): void {
    const status = ok ? 'success' : 'failure';
    this.#reloads.add({ status });
    this.#reloadsLast.set({ status }, Date.now() / 1000);
  }

  register(prom: Prom, registry: Registry): void {
    for (const durations of [this.#durations, this.#made, this.#calls]) durations.register(prom, registry);
    for (const counts of [this.#operations, this.#unmade, this.#missed, this.#keys, this.#invalid, this.#reloads]) {
      counts.register(prom.Counter, registry);
    }
    for (const gauge of [this.#keysLast, this.#statusLast, this.#kept, this.#reloadsLast]) {
      gauge.register(prom.Gauge, registry);
    }
  }
}
