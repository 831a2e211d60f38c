import { fileURLToPath } from 'node:url';
import { traced, traceHeaders } from '../../../machinery/tracing/trace.js';
import type { Client, ServiceClientConstructor, ServiceError } from '@grpc/grpc-js';

/** What the service says of itself. */
export interface KmsStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

/** A key as the service has encrypted it, and what it wants to be told when it decrypts it. */
export interface EncryptedKey {
  readonly source: Buffer;
  readonly keyId: string;
  readonly annotations: ReadonlyMap<string, Buffer>;
}

/** A key management service. `uid` names a call in the logs of both sides. */
export interface KmsClient {
  /** @throws {KmsError} */
  status(): Promise<KmsStatus>;
  /** @throws {KmsError} */
  encrypt(plaintext: Buffer, uid: string): Promise<EncryptedKey>;
  /** @throws {KmsError} */
  decrypt(key: EncryptedKey, uid: string): Promise<Buffer>;
  close(): void;
}

/** The name of a gRPC status, e.g. `Unavailable`. */
export type KmsCode = string;

/** A call that failed. The message is for the log: it is in the words of the service. */
export class KmsError extends Error {
  override readonly name = 'KmsError';
  readonly code: KmsCode;

  constructor(code: KmsCode, message: string, o: { cause?: unknown } = {}) {
    super(message, o);
    this.code = code;
  }

  /** The service did not answer: another question may be answered. */
  get isOutage(): boolean {
    return OUTAGES.has(this.code);
  }
}

const OUTAGES: ReadonlySet<KmsCode> = new Set(['Unavailable', 'DeadlineExceeded', 'Cancelled', 'Unknown', 'Internal']);

export interface KmsClientOptions {
  /** `unix:///path`, or `unix:///@name` for a socket that has no file. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly observe?: (method: string, code: KmsCode, seconds: number) => void;
}

const PROTO = fileURLToPath(new URL('../../../../proto/kms/v2/api.proto', import.meta.url));

type Annotations = Readonly<Record<string, Buffer>>;

/** The libraries are loaded now: who has no key management service pays nothing for them. */
export async function openKmsClient(o: KmsClientOptions): Promise<KmsClient> {
  const [grpc, loader] = await Promise.all([import('@grpc/grpc-js'), import('@grpc/proto-loader')]);
  const definition = await loader.load(PROTO, { keepCase: true, defaults: true });
  const loaded = grpc.loadPackageDefinition(definition) as unknown as {
    readonly v2: { readonly KeyManagementService: ServiceClientConstructor };
  };
  const client: Client = new loaded.v2.KeyManagementService(target(o.endpoint), grpc.credentials.createInsecure(), {
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_retries': 0,
    // A service that comes back is found soon.
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 3_000,
  });
  const call = <T>(method: string, request: object): Promise<T> =>
    traced(`KMS ${method}`, {}, () => callTraced<T>(method, request));
  const callTraced = <T>(method: string, request: object): Promise<T> => {
    const metadata = new grpc.Metadata();
    for (const [name, value] of Object.entries(traceHeaders())) metadata.set(name, value);
    const startedMs = performance.now();
    return new Promise<T>((resolve, reject) => {
      const end = (err: ServiceError | null, answer?: T): void => {
        const code = codeName(grpc.status[err?.code ?? 0] ?? 'UNKNOWN');
        o.observe?.(method, code, (performance.now() - startedMs) / 1000);
        if (err === null) resolve(answer as T);
        else reject(new KmsError(code, `${method}: ${err.details || code}`));
      };
      const methods = client as unknown as Readonly<Record<string, (...args: readonly unknown[]) => void>>;
      methods[method]?.(request, metadata, { deadline: Date.now() + o.timeoutMs }, end);
    });
  };
  return clientOf(call, () => client.close());
}

function clientOf(call: <T>(method: string, request: object) => Promise<T>, close: () => void): KmsClient {
  return {
    status: async () => {
      const { version, healthz, key_id } = await call<Record<'version' | 'healthz' | 'key_id', string>>('Status', {});
      return { version, healthz, keyId: key_id };
    },
    encrypt: async (plaintext, uid) => {
      const { ciphertext, key_id, annotations } = await call<{
        readonly ciphertext: Buffer;
        readonly key_id: string;
        readonly annotations: Annotations;
      }>('Encrypt', { plaintext, uid });
      return { source: ciphertext, keyId: key_id, annotations: new Map(Object.entries(annotations)) };
    },
    decrypt: async ({ source, keyId, annotations }, uid) => {
      const request = { ciphertext: source, uid, key_id: keyId, annotations: Object.fromEntries(annotations) };
      return (await call<{ readonly plaintext: Buffer }>('Decrypt', request)).plaintext;
    },
    close,
  };
}

/** `unix:///@name` is a name and no path. */
const target = (endpoint: string): string => {
  const path = endpoint.slice('unix://'.length);
  return path.startsWith('/@') ? `unix:\0${path.slice(2)}` : `unix:${path}`;
};

/** `DEADLINE_EXCEEDED` as metrics of this API have it: `DeadlineExceeded`. */
const codeName = (code: string): KmsCode =>
  code === 'OK' ? code : code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
