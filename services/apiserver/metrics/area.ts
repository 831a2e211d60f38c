import type * as PromClient from 'prom-client';
import type { Registry } from 'prom-client';
import type { ShowsDeprecated } from './deprecated.js';

export type { Registry };

/** The library. It takes long to load, so counting does without it, and the first scrape or the idle time brings it. */
export type Prom = Pick<typeof PromClient, 'Counter' | 'Gauge' | 'Histogram'>;

/** Counts of one area, in plain numbers that the library asks for when it renders. */
export interface MetricsArea {
  register(prom: Prom, registry: Registry, shows: ShowsDeprecated): void;
}
