import { getOwn, isJsonObject } from '../../machinery/meta/own.js';

/** A client configuration file, or one that it names, that cannot be used. One line that holds no secret. */
export class ClientConfigError extends Error {
  override readonly name = 'ClientConfigError';
}

/** A place in a parsed file, e.g. `users[0].user.token`, which is what its errors say, never the value. null is absent. */
export class Member {
  readonly #file: string;
  readonly #path: string;
  readonly value: unknown;

  constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.value = value ?? undefined;
  }

  get isPresent(): boolean {
    return this.value !== undefined;
  }

  /** @throws {ClientConfigError} always */
  fail(why: string, cause?: unknown): never {
    throw new ClientConfigError(`${this.#file}: ${this.#path === '' ? '' : `${this.#path}: `}${why}`, { cause });
  }

  /** A member of this object; absent when the object is. */
  at(name: string): Member {
    const value = this.isPresent ? getOwn(this.#object(), name) : undefined;
    return new Member(this.#file, this.#path === '' ? name : `${this.#path}.${name}`, value);
  }

  /** Empty when absent. */
  items(): Member[] {
    const { value } = this;
    if (value === undefined) return [];
    if (!Array.isArray(value)) return this.fail('must be a list');
    return value.map((item, i) => new Member(this.#file, `${this.#path}[${i}]`, item));
  }

  /** Members of an object, empty when absent. */
  members(): [string, Member][] {
    if (!this.isPresent) return [];
    return Object.keys(this.#object()).map((name) => [name, this.at(name)]);
  }

  /** Empty when absent. */
  string(): string {
    const { value } = this;
    if (value === undefined) return '';
    return typeof value === 'string' ? value : this.fail('must be a string');
  }

  required(): string {
    return this.string() || this.fail('is required');
  }

  /** false when absent. */
  bool(): boolean {
    const { value } = this;
    if (value === undefined) return false;
    return typeof value === 'boolean' ? value : this.fail('must be true or false');
  }

  strings(): string[] {
    return this.items().map((item) => (item.isPresent ? item.string() : item.fail('must be a string')));
  }

  #object(): object {
    return isJsonObject(this.value) ? this.value : this.fail('must be an object');
  }
}
