import type { TestAuthority } from '../../../services/client/testing/certificates.js';
import { ConvertingHook, versionsWith, type VersionName } from './converting-hook.js';
import { define, newGroup } from './definitions.js';
import type { Document } from './document.js';
import { created, newNamespace } from './objects.js';
import type { TestServer } from './server.js';

/** A kind of three versions that a webhook converts between, in a namespace of its own. */
export class ConvertedKind {
  readonly group: string;
  readonly namespace: string;
  readonly hook: ConvertingHook;
  readonly #server: () => TestServer;
  readonly #path: (namespace: string, version?: string) => string;

  private constructor(
    server: () => TestServer,
    hook: ConvertingHook,
    group: string,
    namespace: string,
    path: (namespace: string, version?: string) => string,
  ) {
    this.#server = server;
    this.hook = hook;
    this.group = group;
    this.namespace = namespace;
    this.#path = path;
  }

  /** @param conversion Of the definition. @default by the webhook's URL */
  static async make(
    server: () => TestServer,
    hook: ConvertingHook,
    conversion = hook.conversion(),
  ): Promise<ConvertedKind> {
    const group = newGroup();
    const { client } = server();
    const path = await define(client, group, { versions: versionsWith('v1'), conversion });
    return new ConvertedKind(server, hook, group, await newNamespace(client), path);
  }

  static async withHook(server: () => TestServer, authority: TestAuthority): Promise<ConvertedKind> {
    return ConvertedKind.make(server, await ConvertingHook.start(authority));
  }

  at(version: VersionName, name?: string): string {
    return this.#path(this.namespace, version) + (name === undefined ? '' : `/${name}`);
  }

  /** In the whole cluster. */
  everywhere(version: VersionName): string {
    return this.#path('', version);
  }

  body(version: VersionName, name: string, spec: object, more: object = {}): object {
    return { apiVersion: `${this.group}/${version}`, kind: 'Widget', metadata: { name }, spec, ...more };
  }

  async create(version: VersionName, name: string, spec: object, more: object = {}): Promise<Document> {
    return created(await this.#server().client.post(this.at(version), this.body(version, name, spec, more)));
  }

  async get(version: VersionName, name: string): Promise<Document> {
    return (await this.#server().client.get(this.at(version, name))).body;
  }
}

export const shownOf = ({ apiVersion, spec }: Document): unknown[] => [apiVersion.replace(/.*\//, ''), spec];
