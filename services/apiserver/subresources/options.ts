import type { Log } from '../../machinery/log/log.js';
import { agentTls, type NodeAgents } from './connect/nodes.js';
import type { ProxyLimits } from './connect/proxy-request.js';
import { tokenIssuer, type IssuerOptions, type TokenIssuer } from './tokens/issuer.js';

/** Flags that operations below a resource have to themselves. */
export interface OperationOptions extends IssuerOptions {
  readonly proxyConnectTimeoutMs: number;
  readonly proxyAnswerTimeoutMs: number;
  readonly proxyIdleTimeoutMs: number;
  readonly nodeAgentAddressTypes: readonly string[];
  readonly nodeAgentCaFile: string;
  readonly nodeAgentCertFile: string;
  readonly nodeAgentKeyFile: string;
  readonly nodeAgentAllowLoopback: boolean;
}

/**
 * The parts that are made of those flags at the start.
 *
 * @param d `ownPort` gives the port that this server listens on, once it does.
 * @throws {Error} In one line, when a file cannot be read or used.
 */
export function operationParts(
  o: OperationOptions,
  d: { readonly ownPort: () => number; readonly log: Pick<Log, 'info' | 'warn'> },
): {
  readonly limits: ProxyLimits;
  readonly nodeAgents: NodeAgents;
  readonly tokens: TokenIssuer | undefined;
} {
  const nodeAgents = {
    addressTypes: o.nodeAgentAddressTypes,
    caFile: o.nodeAgentCaFile,
    certFile: o.nodeAgentCertFile,
    keyFile: o.nodeAgentKeyFile,
    allowLoopback: o.nodeAgentAllowLoopback,
    ownPort: d.ownPort,
  };
  agentTls(nodeAgents); // a file that is not there should stop the start, and not the first session
  return {
    nodeAgents,
    tokens: tokenIssuer(o, d.log),
    limits: proxyLimits(o),
  };
}

/** How long whom requests are handed to may take. */
export const proxyLimits = (
  o: Pick<OperationOptions, 'proxyConnectTimeoutMs' | 'proxyAnswerTimeoutMs' | 'proxyIdleTimeoutMs'>,
): ProxyLimits => ({
  connectMs: o.proxyConnectTimeoutMs,
  answerMs: o.proxyAnswerTimeoutMs,
  idleMs: o.proxyIdleTimeoutMs,
});
