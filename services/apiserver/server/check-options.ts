import { FlagError } from '../../machinery/flags/flags.js';
import { featureGates } from '../../machinery/features/feature-gates.js';
import { checkAdmissionPlugins } from '../admission/admission-plugins.js';
import { isHttps } from '../authentication/service-accounts/issuer-documents.js';
import { showsDeprecated } from '../metrics/deprecated.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from '../options/flags.js';
import { checkAccess } from './check-access.js';
import { checkAudit } from './check-audit.js';
import { checkOidc } from './check-oidc.js';
import { parseAddressRanges, parsePortRange } from '../registry/addresses/ranges.js';

/**
 * Checks what the table of flags cannot say. Each part is read again where it is used.
 *
 * @returns Warnings, one line each. @throws {FlagError}
 */
export function checkOptions(o: ApiServerOptions): readonly string[] {
  featureGates(o.featureGates);
  showsDeprecated(o.showHiddenMetricsForVersion);
  parseAddressRanges(API_SERVER_FLAGS.serviceClusterIpRange.flag, o.serviceClusterIpRange);
  parsePortRange(API_SERVER_FLAGS.serviceNodePortRange.flag, o.serviceNodePortRange);
  checkNodeAgents(o);
  checkProxyClient(o);
  checkEncryption(o);
  checkAccess(o);
  checkAudit(o);
  checkTokens(o);
  checkOidc(o);
  return checkAdmissionPlugins(o);
}

const { nodeAgentCertFile, nodeAgentKeyFile, serviceAccountIssuer, serviceAccountJwksUri } = API_SERVER_FLAGS;
const { serviceAccountMaxTokenExpirationMs: longest } = API_SERVER_FLAGS;

function checkEncryption(o: ApiServerOptions): void {
  const { encryptionProviderConfig: file, encryptionProviderConfigReload: reload } = API_SERVER_FLAGS;
  if (o.encryptionProviderConfigReload && o.encryptionProviderConfig === '') {
    throw new FlagError(`--${reload.flag} needs --${file.flag}`);
  }
}

function checkNodeAgents(o: ApiServerOptions): void {
  if ((o.nodeAgentCertFile === '') !== (o.nodeAgentKeyFile === '')) {
    throw new FlagError(`--${nodeAgentCertFile.flag} and --${nodeAgentKeyFile.flag} go together`);
  }
}

function checkProxyClient(o: ApiServerOptions): void {
  const { proxyClientCertFile: cert, proxyClientKeyFile: key } = API_SERVER_FLAGS;
  if ((o.proxyClientCertFile === '') === (o.proxyClientKeyFile === '')) return;
  throw new FlagError(`--${cert.flag} and --${key.flag} go together`);
}

const HOUR_MS = 3_600_000;
const MOST_MS = 2 ** 32 * 1000;

function checkTokens(o: ApiServerOptions): void {
  for (const issuer of o.serviceAccountIssuer) {
    if (!issuer.includes(':') || URL.canParse(issuer)) continue;
    throw new FlagError(
      `Cannot parse --${serviceAccountIssuer.flag}: ${JSON.stringify(issuer)} has a colon and is no URL`,
    );
  }
  if (o.serviceAccountJwksUri !== '' && !isHttps(o.serviceAccountJwksUri)) {
    const given = JSON.stringify(o.serviceAccountJwksUri);
    throw new FlagError(`Cannot parse --${serviceAccountJwksUri.flag}: ${given} is no https URL`);
  }
  const ms = o.serviceAccountMaxTokenExpirationMs;
  if (ms === 0 || (ms >= HOUR_MS && ms <= MOST_MS)) return;
  throw new FlagError(`--${longest.flag} is between 1h and 2^32 seconds, or 0`);
}
