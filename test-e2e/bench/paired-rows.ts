import type { Costed } from './scenarios.js';

/** What was measured, and what was measured beside it by turns. */
export interface PairedRow {
  readonly scenario: string;
  readonly measured: Costed;
  readonly besides: { readonly by: string; readonly perSecond: number } | undefined;
}
