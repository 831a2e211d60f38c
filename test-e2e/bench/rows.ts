import type { Costed } from './scenarios.js';

/** One figure of a run. */
export interface Row {
  readonly store: string;
  readonly scenario: string;
  readonly unit: string;
  readonly value: number;
  readonly limit: number | undefined;
  readonly limitBy: string;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly cpuMicros?: number;
}

/** A figure that stands for itself, or beside another one. */
export const row = (
  store: string,
  scenario: string,
  unit: string,
  value: number,
  limit?: { readonly value: number; readonly by: string },
): Row => ({ store, scenario, unit, value, limit: limit?.value, limitBy: limit?.by ?? '' });

/** What a suite of figures is asked for. */
export interface SuiteOptions {
  readonly store: string;
  /** Of the etcd to use; undefined for the embedded store. */
  readonly etcdUrl: string | undefined;
  readonly seconds: number;
}

/** What was measured, and what was measured beside it by turns. */
export interface PairedRow {
  readonly scenario: string;
  readonly measured: Costed;
  readonly besides: { readonly by: string; readonly perSecond: number } | undefined;
}

export const paired = (store: string, rows: readonly PairedRow[]): Row[] =>
  rows.map(({ scenario, measured: { perSecond, p50Ms, p99Ms, cpuMicros }, besides }) => ({
    ...row(store, scenario, '/s', perSecond, besides && { value: besides.perSecond, by: besides.by }),
    p50Ms,
    p99Ms,
    cpuMicros,
  }));

export function render(rows: readonly Row[]): string {
  return rows
    .map((r) => {
      const limit =
        r.limit === undefined ? '' : `${(r.value / r.limit).toFixed(2)} of ${r.limit.toFixed(0)} (${r.limitBy})`;
      const times = r.p50Ms === undefined ? '' : `p50 ${r.p50Ms.toFixed(1)} ms, p99 ${(r.p99Ms ?? 0).toFixed(1)} ms`;
      const cpu = r.cpuMicros === undefined ? '' : `${r.cpuMicros.toFixed(0)} us cpu`;
      const value = r.value < 100 ? r.value.toFixed(2) : r.value.toFixed(0);
      return `${r.store.padEnd(9)} ${r.scenario.padEnd(58)} ${value.padStart(8)} ${r.unit.padEnd(9)} ${limit.padEnd(34)} ${times} ${cpu}`;
    })
    .join('\n');
}
