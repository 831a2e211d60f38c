import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';

const PROTO = fileURLToPath(new URL('../../proto/kms/v2/api.proto', import.meta.url));

type Call = grpc.ServerUnaryCall<Record<string, unknown>, object>;
type Answer = grpc.sendUnaryData<object>;

/** A key management service, version 2, on a socket of its own. It keeps its keys when it is stopped and started again. */
export class KeyService {
  /** As configurations have it. */
  readonly endpoint: string;
  readonly #address: string;
  /** What it was asked, in order. */
  readonly asked: string[] = [];
  healthz = 'ok';
  /** What it says of what it cannot do. */
  complaint = 'cannot be decrypted';
  /** What it fails to do. */
  readonly fails = new Set<string>();
  /** It takes questions and answers none. */
  silent = false;
  readonly #keys = new Map([['key-1', randomBytes(32)]]);
  #keyId = 'key-1';
  #server: grpc.Server | undefined;

  /** @param directory Of the socket's file; undefined for a socket without one. */
  constructor(directory?: string) {
    const name = `kms-${process.pid}-${randomBytes(4).toString('hex')}`;
    this.endpoint = directory === undefined ? `unix:///@${name}` : `unix://${join(directory, 'kms.sock')}`;
    this.#address = directory === undefined ? `unix:\0${name}` : this.endpoint;
  }

  async start(): Promise<void> {
    const loaded = grpc.loadPackageDefinition(await load(PROTO, { keepCase: true, defaults: true }));
    const { service } = (loaded['v2'] as grpc.GrpcObject)['KeyManagementService'] as grpc.ServiceClientConstructor;
    const server = new grpc.Server();
    server.addService(service, {
      Status: this.#method('Status', () => ({ version: 'v2', healthz: this.healthz, key_id: this.#keyId })),
      Encrypt: this.#method('Encrypt', ({ plaintext }) => this.#encrypt(plaintext as Buffer)),
      Decrypt: this.#method('Decrypt', ({ ciphertext, key_id }) =>
        this.#decrypt(ciphertext as Buffer, key_id as string),
      ),
    });
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(this.#address, grpc.ServerCredentials.createInsecure(), (err) =>
        err ? reject(err) : resolve(),
      ),
    );
    this.#server = server;
  }

  /** At once, with all connections. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  rotate(keyId: string): void {
    this.#keys.set(keyId, randomBytes(32));
    this.#keyId = keyId;
  }

  #method(name: string, answer: (request: Record<string, unknown>) => object) {
    return (call: Call, done: Answer): void => {
      this.asked.push(name);
      if (this.silent) return;
      try {
        if (this.fails.has(name)) throw new Error(this.complaint);
        done(null, answer(call.request));
      } catch {
        done({ code: grpc.status.INVALID_ARGUMENT, details: this.complaint });
      }
    };
  }

  #encrypt(plaintext: Buffer): object {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#keyId), iv);
    const ciphertext = Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return { ciphertext, key_id: this.#keyId, annotations: { 'kms.example.com': Buffer.from('1') } };
  }

  #decrypt(ciphertext: Buffer, keyId: string): object {
    const decipher = createDecipheriv('aes-256-gcm', this.#key(keyId), ciphertext.subarray(0, 12));
    decipher.setAuthTag(ciphertext.subarray(-16));
    return { plaintext: Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]) };
  }

  #key(keyId: string): Buffer {
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new Error('There is no such key');
    return key;
  }
}
