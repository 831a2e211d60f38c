import { FileChanges } from '../../machinery/files/file-changes.js';
import type { OptionsOf } from '../../machinery/flags/flags.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { TransformerOf } from '../../storage/encryption/opening.js';
import { plainOnly, type ValueTransformer } from '../../storage/encryption/transformer.js';
import type { ENCRYPTION_FLAGS } from '../options/encryption.js';
import { readEncryptionConfiguration } from './encryption-configuration.js';
import { loadEncryption, type EncryptionDeps, type LoadedEncryption } from './loaded-encryption.js';

export interface EncryptionOptions extends Omit<EncryptionDeps, 'word'> {
  readonly vocabulary: Vocabulary;
  /** Of all keys of the store; ends in "/". Below it lie `<group or core>/<resource>/…`. */
  readonly prefix: string;
  /** How often the file is looked at. */
  readonly reloadEveryMs?: number;
}

/** How the store's values are encrypted, for the server's whole life. */
export interface Encryption {
  readonly transformerOf: TransformerOf;
  /** Whether a configuration is given: then there is something to be asked for its health. */
  readonly isConfigured: boolean;
  /** Whether every key management service of the present configuration is well. */
  well(): boolean;
  close(): void;
}

const RELOAD_EVERY_MS = 5_000;
/** Values that are being decrypted when a configuration goes finish with it. */
const CLOSE_AFTER_MS = 10_000;
/** Resources whose transformers are remembered. */
const MAX_KNOWN = 4_096;

/** @throws {Error} In one line that names file and member, when the configuration cannot be used */
export async function openEncryption(
  flags: OptionsOf<typeof ENCRYPTION_FLAGS>,
  o: EncryptionOptions,
): Promise<Encryption> {
  const { encryptedPrefix: word } = o.vocabulary;
  const { encryptionProviderConfig: file } = flags;
  if (file === '') {
    const plain = plainOnly(word);
    return { transformerOf: () => plain, isConfigured: false, well: () => true, close: () => undefined };
  }
  const changes = new FileChanges([file]);
  const load = async (): Promise<LoadedEncryption> =>
    loadEncryption(await readEncryptionConfiguration(file, o.vocabulary), { ...o, word });
  const encryption = new FileEncryption(await load(), o);
  if (flags.encryptionProviderConfigReload) encryption.follow(changes, load);
  return encryption;
}

class FileEncryption implements Encryption {
  readonly isConfigured = true;
  readonly #o: EncryptionOptions;
  #loaded: LoadedEncryption;
  /** By the part of a key that names the resource. */
  #known = new Map<string, ValueTransformer>();
  #due = false;
  #reloading = false;
  #stop: () => void = () => undefined;
  readonly #closing = new Map<LoadedEncryption, NodeJS.Timeout>();

  constructor(loaded: LoadedEncryption, o: EncryptionOptions) {
    this.#loaded = loaded;
    this.#o = o;
  }

  readonly transformerOf = (key: string): ValueTransformer | undefined => {
    const { prefix } = this.#o;
    const group = key.indexOf('/', prefix.length);
    const resource = group < 0 ? -1 : key.indexOf('/', group + 1);
    // What is no object's is stored as it is.
    if (resource < 0 || !key.startsWith(prefix) || key.startsWith('-/', prefix.length)) return undefined;
    const id = key.slice(prefix.length, resource);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const [named = '', name = ''] = id.split('/');
    // Events are one resource, whichever group they are stored in.
    const isEvents = named === this.#o.vocabulary.groups.events && name === 'events';
    const of = { group: named === 'core' || isEvents ? '' : named, resource: name };
    const transformer = this.#loaded.transformerOf(of);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(id, transformer);
    return transformer;
  };

  well(): boolean {
    return this.#loaded.services.every((service) => service.well);
  }

  follow(changes: FileChanges, load: () => Promise<LoadedEncryption>): void {
    const timer = setInterval(() => {
      this.#due ||= changes.noticed();
      if (this.#due && !this.#reloading) void this.#reload(load);
    }, this.#o.reloadEveryMs ?? RELOAD_EVERY_MS);
    timer.unref();
    this.#stop = () => clearInterval(timer);
  }

  close(): void {
    this.#stop();
    this.#loaded.close();
    for (const [loaded, timer] of this.#closing) {
      clearTimeout(timer);
      loaded.close();
    }
  }

  /** A configuration that cannot be used, or whose services are not well, is tried again until another one takes its place. */
  async #reload(load: () => Promise<LoadedEncryption>): Promise<void> {
    const { log, metrics } = this.#o;
    this.#reloading = true;
    this.#due = false;
    let loaded: LoadedEncryption | undefined;
    try {
      loaded = await load();
      const unwell = loaded.services.filter(({ well }) => !well).map(({ name }) => name);
      if (unwell.length > 0) throw new Error(`Key management services that are not well: ${unwell.join(', ')}`);
      this.#take(loaded);
      metrics.reloaded(true);
      log.info('The configuration of encryption was read again');
    } catch (err) {
      loaded?.close();
      this.#due = loaded !== undefined; // the services may come; the file has to change
      metrics.reloaded(false);
      log.error('The changed configuration of encryption cannot be used; the one before stays', { err });
    } finally {
      this.#reloading = false;
    }
  }

  #take(loaded: LoadedEncryption): void {
    const before = this.#loaded;
    this.#loaded = loaded;
    this.#known = new Map();
    const timer = setTimeout(() => {
      this.#closing.delete(before);
      before.close();
    }, CLOSE_AFTER_MS);
    timer.unref();
    this.#closing.set(before, timer);
  }
}
