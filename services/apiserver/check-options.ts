import { featureGates } from '../machinery/features/feature-gates.js';
import { showsDeprecated } from './metrics/deprecated.js';
import type { ApiServerOptions } from './options.js';

/** What the table of flags cannot say. @throws {FlagError} */
export function checkOptions(o: ApiServerOptions): void {
  featureGates(o.featureGates);
  showsDeprecated(o.showHiddenMetricsForVersion);
}
