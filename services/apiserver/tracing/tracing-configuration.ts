import { readBoundedLater } from '../../client/kubeconfig/bounded-file.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { parseDocument } from '../admission/configuration.js';
import { integer, readVersioned, refuse, text, type MemberReader } from '../admission/configuration-members.js';

export interface TracingConfiguration {
  /** `host:port` of a collector that takes OTLP over gRPC, in the clear. */
  readonly endpoint: string;
  /** Of a million requests whose clients decide nothing, how many are traced. */
  readonly samplingRatePerMillion: number;
}

const DEFAULT_ENDPOINT = 'localhost:4317';
const VERSIONS = ['v1alpha1', 'v1beta1'];
const MILLION = 1_000_000;
/** A port is needed; a scheme is not. */
const ENDPOINT = /^(?:(?:http|grpc):\/\/)?((?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5})\/?$/;

const endpointOf: MemberReader<string> = (member) => {
  const given = text(member);
  if (given === '') return DEFAULT_ENDPOINT;
  return ENDPOINT.exec(given)?.[1] ?? refuse(member, 'must be HOST:PORT');
};

/**
 * Reads `--tracing-config-file`.
 *
 * @throws {Error} In one line that names the file, the line and the member
 */
export async function readTracingConfiguration(
  file: string,
  { groups }: Pick<Vocabulary, 'groups'>,
): Promise<TracingConfiguration> {
  const content = (await readBoundedLater(file)).toString('utf8');
  const document = parseDocument(await import('yaml'), content, file);
  const apiVersions = VERSIONS.map((version) => `${groups.apiserverConfig}/${version}`);
  const shape = { endpoint: endpointOf, samplingRatePerMillion: integer(0, MILLION) };
  const { endpoint, samplingRatePerMillion } = readVersioned(
    document,
    { kind: 'TracingConfiguration', apiVersions },
    shape,
  );
  return { endpoint, samplingRatePerMillion };
}
