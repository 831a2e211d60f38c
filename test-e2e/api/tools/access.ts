import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vocabulary, type VocabularyName } from '../../../services/machinery/vocabulary/vocabulary.js';
import { scratchDirectory } from '../../support/scratch.js';
import { Client } from './client.js';
import { created, newNamespace, ok } from './objects.js';
import type { Document } from './document.js';
import type { TestServer } from './server.js';

const USERS = 40;
const tokenOf = (name: string): string => `token-of-${name}`;

/** Users `user-0`, `user-1`, ... each of a group `group-of-<name>`, besides the administrator that `own` is. */
export function tokenFile(own: string): string {
  const path = join(scratchDirectory(), 'tokens.csv');
  const lines = Array.from({ length: USERS }, (_, i) => `${tokenOf(`user-${i}`)},user-${i},${i},"group-of-user-${i}"`);
  writeFileSync(path, [`${own},tester,tester,"system:masters"`, ...lines, ''].join('\n'));
  return path;
}

/** A user of one test, with a namespace of its own. */
export interface TestUser {
  readonly name: string;
  readonly group: string;
  readonly client: Client;
  readonly namespace: string;
}

/** Roles and bindings of one server, in its words. */
export class Access {
  readonly words: ReturnType<typeof vocabulary>;
  readonly #server: () => TestServer;
  #users = 0;

  constructor(server: () => TestServer, words: VocabularyName) {
    this.#server = server;
    this.words = vocabulary(words);
  }

  get admin(): Client {
    return this.#server().client;
  }
  get group(): string {
    return this.words.groups.rbac;
  }
  get base(): string {
    return `/apis/${this.group}/v1`;
  }

  async newUser(): Promise<TestUser> {
    const name = `user-${this.#users++}`;
    const client = new Client(this.admin.url.href, tokenOf(name));
    return { name, group: `group-of-${name}`, client, namespace: await newNamespace(this.admin) };
  }

  /** @param namespace '' for what lies in none. */
  path(resource: string, namespace = '', name = ''): string {
    const below = namespace === '' ? resource : `namespaces/${namespace}/${resource}`;
    return `${this.base}/${below}${name === '' ? '' : `/${name}`}`;
  }

  object(kind: string, name: string, members: object): object {
    return { apiVersion: `${this.group}/v1`, kind, metadata: { name }, ...members };
  }

  binding(kind: string, name: string, role: readonly [kind: string, name: string], user: string): object {
    return this.object(kind, name, {
      roleRef: { apiGroup: this.group, kind: role[0], name: role[1] },
      subjects: [{ kind: 'User', apiGroup: this.group, name: user }],
    });
  }

  /** Lets a user do what the rules say, in a namespace or everywhere. */
  async grant(user: string, namespace: string, ...rules: readonly object[]): Promise<void> {
    const name = `granted-${user}-${Math.random().toString(36).slice(2)}`;
    created(await this.admin.post(this.path('clusterroles'), this.object('ClusterRole', name, { rules })));
    await this.bind(user, namespace, name);
  }

  async bind(user: string, namespace: string, clusterRole: string): Promise<string> {
    const [kind, resource] = namespace === '' ? ['ClusterRoleBinding', 'clusterrolebindings'] : ['RoleBinding', 'rolebindings']; // prettier-ignore
    const name = `${user}-${clusterRole}`;
    const body = this.binding(kind, name, ['ClusterRole', clusterRole], user);
    created(await this.admin.post(this.path(resource, namespace), body));
    return this.path(resource, namespace, name);
  }

  async clusterRole(name: string): Promise<Document> {
    return ok(await this.admin.get(this.path('clusterroles', '', name)));
  }
}

export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}
export const rulesIn = (role: Document): readonly Rule[] => (role['rules'] ?? []) as readonly Rule[];

/** Rights on resources of the core group. */
export const on = (verbs: string, resources: string, ...resourceNames: string[]): Rule => ({
  apiGroups: [''],
  resources: resources.split(','),
  verbs: verbs.split(','),
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
});
