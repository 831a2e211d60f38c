import { FlagError } from '../machinery/flags/flags.js';
import { featureGates } from '../machinery/features/feature-gates.js';
import { showsDeprecated } from './metrics/deprecated.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from './options.js';
import { parseAddressRanges, parsePortRange } from './registry/addresses/ranges.js';

/** What the table of flags cannot say. Each part is read again where it is used. @throws {FlagError} */
export function checkOptions(o: ApiServerOptions): void {
  featureGates(o.featureGates);
  showsDeprecated(o.showHiddenMetricsForVersion);
  parseAddressRanges(API_SERVER_FLAGS.serviceClusterIpRange.flag, o.serviceClusterIpRange);
  parsePortRange(API_SERVER_FLAGS.serviceNodePortRange.flag, o.serviceNodePortRange);
  checkNodeAgents(o);
}

const { nodeAgentCertFile, nodeAgentKeyFile } = API_SERVER_FLAGS;

function checkNodeAgents(o: ApiServerOptions): void {
  if ((o.nodeAgentCertFile === '') === (o.nodeAgentKeyFile === '')) return;
  throw new FlagError(`--${nodeAgentCertFile.flag} and --${nodeAgentKeyFile.flag} go together`);
}
