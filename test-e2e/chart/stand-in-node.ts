import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { credentialsOf, type Client } from '../support/client.js';
import { runProgram, type Exit } from '../support/program.js';
import type { PodSpec } from './helm.js';

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}
interface Job extends Named {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: PodSpec } };
  readonly status?: { readonly conditions?: readonly object[] };
}
interface Pod extends Named {
  readonly spec: PodSpec;
  readonly status?: { readonly phase?: string };
}

const LOOK_MS = 100;
const IMAGE = /platform(?:[:@]|$)/;

export interface NodeDeps {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly namespace: string;
  /** For the files of pods. */
  readonly directory: string;
  /** Where the service of the chart is found here. */
  readonly serviceUrl: () => string;
}

/** What has become of a pod. */
export interface Done extends Exit {
  readonly name: string;
  readonly args: readonly string[];
  readonly stderr: string;
}

/**
 * Plays what no process of this project does: it makes pods of jobs, and runs what they say as processes of this machine, with
 * the files of their volumes and as their service accounts. Pods of our own image alone.
 */
export class StandInNode {
  readonly done: Done[] = [];
  readonly #d: NodeDeps;
  readonly #seen = new Set<string>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(d: NodeDeps) {
    this.#d = d;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /**
   * Arguments of a pod's container as they are here: files of volumes are put below a directory.
   *
   * @returns They, and a function that puts the files there anew.
   */
  async place(
    name: string,
    spec: PodSpec,
  ): Promise<{ readonly args: string[]; readonly refresh: () => Promise<void> }> {
    const [container] = spec.containers;
    assert.ok(container !== undefined && IMAGE.test(container.image), `${name}: of another image`);
    const root = join(this.#d.directory, name);
    const here = (text: string): string => text.replaceAll('/etc/platform/', `${root}/`);
    const refresh = async (): Promise<void> => {
      for (const { name: volume, mountPath } of container.volumeMounts ?? []) {
        const files = await this.#filesOf(spec, volume);
        mkdirSync(here(mountPath), { recursive: true });
        for (const [file, text] of files) writeFileSync(join(here(mountPath), file), this.#reachable(here(text)));
      }
    };
    await refresh();
    return { args: (container.args ?? []).map(here), refresh };
  }

  async #filesOf(spec: PodSpec, volume: string): Promise<readonly (readonly [name: string, text: string])[]> {
    const { secret, configMap } = spec.volumes?.find(({ name }) => name === volume) ?? {};
    if (secret === undefined && configMap === undefined) return [];
    const path = secret === undefined ? `configmaps/${configMap?.name ?? ''}` : `secrets/${secret.secretName}`;
    const { data = {} } = await this.#get<{ data?: Record<string, string> }>(path);
    return Object.entries(data).map(([name, text]) => [name, secret === undefined ? text : Buffer.from(text, 'base64').toString()]); // prettier-ignore
  }

  /** Nobody resolves names of services here. */
  readonly #reachable = (text: string): string =>
    text.replace(/server: https:\/\/\S+\.svc:\d+/, () => `server: ${this.#d.serviceUrl()}`);

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for (const job of await this.#list<Job>('/apis/batch/v1', 'jobs')) {
        if (job.status?.conditions === undefined && this.#isNew(job)) await this.#runJob(job);
      }
      for (const pod of await this.#list<Pod>('/api/v1', 'pods')) {
        if (pod.status?.phase === 'Pending' && this.#isNew(pod)) await this.#runPod(pod);
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  #isNew({ metadata: { uid } }: Named): boolean {
    if (this.#seen.has(uid)) return false;
    this.#seen.add(uid);
    return true;
  }

  async #runJob({ metadata: { name }, spec }: Job): Promise<void> {
    const { template } = spec;
    const metadata = { ...template.metadata, name: `${name}-pod` };
    const { client, namespace } = this.#d;
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { status, text } = await client.post(path, { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec });
    assert.equal(status, 201, text);
    const pod = await this.#get<Pod>(`pods/${metadata.name}`);
    this.#isNew(pod);
    const ended = await this.#execute(pod);
    const condition = { type: ended.code === 0 ? 'Complete' : 'Failed', status: 'True', lastTransitionTime: new Date().toISOString() }; // prettier-ignore
    await this.#setStatus('/apis/batch/v1', `jobs/${name}`, { conditions: [condition], startTime: condition.lastTransitionTime }); // prettier-ignore
    await client.delete(`${path}/${metadata.name}?gracePeriodSeconds=0`);
  }

  async #runPod(pod: Pod): Promise<void> {
    const { code } = await this.#execute(pod);
    await this.#setStatus('/api/v1', `pods/${pod.metadata.name}`, { phase: code === 0 ? 'Succeeded' : 'Failed' });
  }

  async #execute({ metadata: { name }, spec }: Pod): Promise<Done> {
    const { args } = await this.place(name, spec);
    const account =
      spec.automountServiceAccountToken === false ? [] : [`--kubeconfig=${await this.#account(name, spec)}`];
    const ended = await runProgram([...args, ...account]);
    const done = { ...ended, name, args };
    this.done.push(done);
    return done;
  }

  /** A client configuration with a token of the pod's service account, in place of the files that a pod has of it. */
  async #account(name: string, { serviceAccountName }: PodSpec): Promise<string> {
    const { client, namespace, directory, kubeconfig } = this.#d;
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccountName}/token`;
    const asked = await client.post(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
    const { status } = asked.json() as unknown as { status: { token: string } };
    const { server, ca } = credentialsOf(kubeconfig);
    const file = join(directory, `${name}.kubeconfig`);
    const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'host', cluster }],
      users: [{ name: 'account', user: { token: status.token } }],
      contexts: [{ name: 'host', context: { cluster: 'host', user: 'account', namespace } }],
      'current-context': 'host',
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  }

  async #setStatus(prefix: string, path: string, status: object): Promise<void> {
    const { client, namespace } = this.#d;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { status: code, text } = await client.request('PATCH', `${prefix}/namespaces/${namespace}/${path}/status`, { body: JSON.stringify({ status }), headers }); // prettier-ignore
    assert.equal(code, 200, text);
  }

  async #get<T>(path: string): Promise<T> {
    const { client, namespace } = this.#d;
    const { status, text } = await client.get(`/api/v1/namespaces/${namespace}/${path}`);
    assert.equal(status, 200, `${path}: ${text}`);
    return JSON.parse(text) as T;
  }

  async #list<T>(prefix: string, resource: string): Promise<readonly T[]> {
    const { client, namespace } = this.#d;
    const { text } = await client.get(`${prefix}/namespaces/${namespace}/${resource}`);
    return (JSON.parse(text) as { items?: readonly T[] }).items ?? [];
  }
}
