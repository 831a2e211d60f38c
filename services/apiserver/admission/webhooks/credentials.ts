import { CredentialError, type Credentials } from '../../../client/credentials/credential.js';
import { fixed } from '../../../client/credentials/fixed.js';
import { RereadFile } from '../../../client/credentials/reread-file.js';
import { MAX_FILE_BYTES } from '../../../client/kubeconfig/bounded-file.js';
import { clientConfig, type ClientConfig } from '../../../client/kubeconfig/config.js';
import { userCredentials } from '../../../client/kubeconfig/connection.js';
import { ClientConfigError } from '../../../client/kubeconfig/member.js';
import { parseConfigText } from '../../../client/kubeconfig/parse.js';
import { userFor } from '../../../client/kubeconfig/user-for.js';
import { RemoteError } from '../../../client/remote/remote-service.js';
import type { Log } from '../../../machinery/log/log.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';

/** As whom a webhook is asked. */
export interface Identity {
  /** Another one when the user or the file has changed: connections of one are not used for another. */
  readonly id: string;
  readonly credentials: Credentials;
}

/** As whom webhooks are asked. */
export interface WebhookUsers {
  /** @param target Host and port. @throws {RemoteError} When the user's credentials cannot be used. */
  of(target: string): Promise<Identity> | Identity;
  close(): void;
}

const NOBODY: Identity = { id: '', credentials: fixed({ headers: {} }) };

/** Where no file says otherwise: nobody. */
export const ANONYMOUS: WebhookUsers = { of: () => NOBODY, close: () => undefined };

export interface WebhookUsersOptions {
  readonly vocabulary: Vocabulary;
  readonly log: Pick<Log, 'warn'>;
  readonly now?: () => number;
}

/**
 * The users of a client configuration file, by the hosts that they are for (spec 2, 4.3). The file is read again when it has
 * changed; one that cannot be used any more leaves those of the last one.
 *
 * @throws {ClientConfigError} @throws {CredentialError} In one line that names the file.
 */
export function webhookUsers(path: string, o: WebhookUsersOptions): WebhookUsers {
  return new FileUsers(path, o);
}

class FileUsers implements WebhookUsers {
  readonly #path: string;
  readonly #o: WebhookUsersOptions;
  readonly #file: RereadFile;
  #text: string;
  #config: ClientConfig;
  /** Counts the texts that were used. */
  #edition = 0;
  /** Opened credentials of this edition, by the entry of the file. */
  #open = new Map<object, Identity>();

  constructor(path: string, o: WebhookUsersOptions) {
    this.#path = path;
    this.#o = o;
    this.#file = new RereadFile(path, { maxBytes: MAX_FILE_BYTES, ...(o.now === undefined ? {} : { now: o.now }) });
    this.#text = this.#file.text;
    this.#config = this.#parse(this.#text);
    for (const user of this.#config.users.values()) this.#opened(this.#config, user);
  }

  async of(target: string): Promise<Identity> {
    await this.#follow();
    const user = userFor(target, this.#config);
    if (user === undefined) return NOBODY;
    try {
      return this.#opened(this.#config, user);
    } catch (err) {
      if (!(err instanceof ClientConfigError || err instanceof CredentialError)) throw err;
      throw new RemoteError(err.message, { failure: 'credentials', cause: err });
    }
  }

  close(): void {
    for (const { credentials } of this.#open.values()) credentials.close();
  }

  async #follow(): Promise<void> {
    try {
      const text = await this.#file.current();
      if (text === this.#text) return;
      this.#text = text; // what cannot be used is told of once
      this.#config = this.#parse(text);
      this.close();
      this.#open = new Map();
      this.#edition++;
    } catch (err) {
      this.#o.log.warn('Client configuration cannot be used, the last one goes on being used', {
        file: this.#path,
        err,
      });
    }
  }

  #parse(text: string): ClientConfig {
    return clientConfig(parseConfigText(Buffer.from(text), this.#path), this.#path);
  }

  #opened(config: ClientConfig, user: Parameters<typeof userCredentials>[1]): Identity {
    let identity = this.#open.get(user);
    if (identity === undefined) {
      const { vocabulary, log } = this.#o;
      const warn = (message: string, keys: object): void => log.warn(message, keys);
      const credentials = userCredentials(config, user, { vocabulary, warn, interactive: false });
      identity = { id: `${this.#edition} ${this.#open.size}`, credentials };
      this.#open.set(user, identity);
    }
    return identity;
  }
}
