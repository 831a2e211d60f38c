import { rest } from '../../machinery/loop/repeat.js';
import type { Log } from '../../machinery/log/log.js';
import { aesCbc, aesGcm } from '../../storage/encryption/aes.js';
import { POLL_MS, type KmsProvider } from '../../storage/encryption/kms/kms-provider.js';
import {
  IDENTITY,
  plainOnly,
  providerChain,
  type Cipher,
  type Provider,
  type ValueTransformer,
} from '../../storage/encryption/transformer.js';
import type { EncryptionMetrics } from '../metrics/encryption-metrics.js';
import type { EncryptionRule, LocalKind, ProviderConfiguration } from './encryption-configuration.js';
import { covers, type ResourceEntry } from './resource-rules.js';

export interface EncryptionDeps {
  /** What encrypted values begin with. */
  readonly word: string;
  readonly log: Log;
  readonly metrics: EncryptionMetrics;
}

/** One configuration in use, with its connections. */
export interface LoadedEncryption {
  transformerOf(resource: ResourceEntry): ValueTransformer;
  readonly services: readonly KmsProvider[];
  close(): void;
}

/** The ciphers by a key, each loaded only where it is used. */
const CIPHERS: Readonly<Record<LocalKind, () => Promise<(secret: Buffer) => Cipher>>> = {
  aescbc: () => Promise.resolve(aesCbc),
  aesgcm: () => Promise.resolve(aesGcm),
  secretbox: async () => (await import('../../storage/encryption/secretbox.js')).secretbox,
};

/** Connects to key management services, and waits for the first word of each, for as long as a call to it may take. */
export async function loadEncryption(rules: readonly EncryptionRule[], d: EncryptionDeps): Promise<LoadedEncryption> {
  const services: KmsProvider[] = [];
  const chains: { readonly rule: EncryptionRule; readonly transformer: ValueTransformer }[] = [];
  for (const rule of rules) {
    const providers: Provider[] = [];
    for (const configuration of rule.providers) providers.push(...(await providersOf(configuration, d, services)));
    chains.push({ rule, transformer: providerChain(d.word, providers, (done) => d.metrics.transformed(done)) });
  }
  const stopping = new AbortController();
  await Promise.all(services.map((service) => service.poll()));
  for (const service of services) void keepPolling(service, stopping.signal);
  const plain = plainOnly(d.word);
  return {
    services,
    transformerOf: (resource) =>
      chains.find(({ rule }) => rule.resources.some((entry) => covers(entry, resource)))?.transformer ?? plain,
    close: () => {
      stopping.abort();
      for (const service of services) service.close();
    },
  };
}

async function providersOf(
  configuration: ProviderConfiguration,
  { word, log, metrics }: EncryptionDeps,
  services: KmsProvider[],
): Promise<readonly Provider[]> {
  if (configuration.kind === 'identity') return [IDENTITY];
  if (configuration.kind === 'kms') {
    const service = await openService(configuration, log, metrics);
    services.push(service);
    return [{ prefix: `${word}kms:v2:${service.name}:`, cipher: service }];
  }
  const { kind, keys } = configuration;
  const cipherOf = await CIPHERS[kind]();
  return keys.map(({ name, secret }) => ({ prefix: `${word}${kind}:v1:${name}:`, cipher: cipherOf(secret) }));
}

/** Libraries for calls are loaded only now. */
async function openService(
  { name, endpoint, timeoutMs }: ProviderConfiguration & { readonly kind: 'kms' },
  log: Log,
  metrics: EncryptionMetrics,
): Promise<KmsProvider> {
  const [{ openKmsClient }, { guardedKms }, { KmsProvider: Service }] = await Promise.all([
    import('../../storage/encryption/kms/kms-client.js'),
    import('../../storage/encryption/kms/guarded-kms.js'),
    import('../../storage/encryption/kms/kms-provider.js'),
  ]);
  const observe = metrics.service(name);
  const client = await openKmsClient({ endpoint, timeoutMs, observe: (...call) => observe.called(...call) });
  return new Service({ name, client: await guardedKms(client, { observer: observe.breaker }), log, observe });
}

async function keepPolling(service: KmsProvider, signal: AbortSignal): Promise<void> {
  for (;;) {
    await rest(service.well ? POLL_MS.well : POLL_MS.unwell, signal);
    if (signal.aborted) return;
    await service.poll();
  }
}
