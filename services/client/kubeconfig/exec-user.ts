import type { ExecPlugin } from '../credentials/exec/exec-credentials.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ClientConfig, ClusterEntry, ExecEntry } from './config.js';
import { textOf } from './source.js';

const VERSIONS = ['v1', 'v1beta1'];
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'];

export interface ExecScene {
  readonly config: ClientConfig;
  readonly cluster: ClusterEntry;
  readonly exec: ExecEntry;
  readonly vocabulary: Vocabulary;
  /** Whether the plugin could talk to a person. */
  readonly interactive: boolean;
}

/** The credential plugin of a user (spec 2, 5.8). @throws {ClientConfigError} */
export function execPlugin({ config, cluster, exec, vocabulary, interactive }: ExecScene): ExecPlugin {
  const { apiVersion, provideClusterInfo, command, args, installHint } = exec;
  const known = VERSIONS.map((version) => `${vocabulary.groups.clientAuthentication}/${version}`);
  if (!known.includes(apiVersion)) exec.member.at('apiVersion').fail(`must be ${known.join(' or ')}`);
  const isInteractive = mayAsk(exec, apiVersion === known[0], interactive);
  const spec = {
    ...(provideClusterInfo ? { cluster: clusterInfo(cluster, vocabulary) } : {}),
    interactive: isInteractive,
  };
  return {
    command,
    args,
    installHint,
    apiVersion,
    isInteractive,
    directory: config.directory,
    env: Object.fromEntries(exec.env.map(({ name, value }) => [name, value])),
    info: {
      variable: vocabulary.execInfoVariable,
      value: JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }),
    },
  };
}

function mayAsk(exec: ExecEntry, isRequired: boolean, interactive: boolean): boolean {
  const member = exec.member.at('interactiveMode');
  const mode = exec.interactiveMode === '' && !isRequired ? 'IfAvailable' : exec.interactiveMode;
  if (!INTERACTIVE_MODES.includes(mode)) member.fail(`must be one of ${INTERACTIVE_MODES.join(', ')}`);
  if (mode === 'Always' && !interactive) member.fail('is Always, and there is nobody here to ask');
  return mode !== 'Never' && interactive;
}

function clusterInfo(cluster: ClusterEntry, vocabulary: Vocabulary): object {
  const authority = textOf(cluster.authority);
  const config = cluster.extensions.get(vocabulary.execExtension);
  return {
    server: cluster.server,
    ...(cluster.serverName === '' ? {} : { 'tls-server-name': cluster.serverName }),
    ...(cluster.insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    ...(config === undefined ? {} : { config }),
  };
}
