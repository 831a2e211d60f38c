import assert from 'node:assert/strict';
import { vocabulary } from '../../services/machinery/vocabulary/vocabulary.js';
import type { Client } from './tools/client.js';
import type { Document } from './tools/document.js';
import { created, newNamespace, ok, pod, refused } from './tools/objects.js';
import { onServer, type TestServer } from './tools/server.js';
import { SIGNING_REQUEST } from './tools/signing-request.js';

type Server = () => TestServer;

interface PodSpec {
  readonly containers: readonly object[];
  readonly ephemeralContainers?: readonly { readonly name: string; readonly terminationMessagePath?: string }[];
}
const specOf = (object: Document): PodSpec => object.spec as unknown as PodSpec;
const STRATEGIC = 'application/strategic-merge-patch+json';

function ephemeral(server: Server): void {
  /** @returns The path of a pod's ephemeral containers. */
  const newPod = async (client: Client): Promise<string> => {
    const path = `/api/v1/namespaces/${await newNamespace(client)}/pods`;
    created(await client.post(path, pod('p')));
    return `${path}/p/ephemeralcontainers`;
  };
  const debug = { name: 'debug', image: 'busybox' };

  it('are added by whoever debugs, with their defaults, and nothing else changes', async () => {
    const { client } = server();
    const path = await newPod(client);
    const before = ok(await client.get(path));
    const spec = { ...specOf(before), containers: [{ name: 'main', image: 'another' }], ephemeralContainers: [debug] };
    const after = ok(await client.put(path, { ...before, spec, metadata: { ...before.metadata, labels: { a: 'b' } } }));
    assert.deepEqual(specOf(after).containers, specOf(before).containers);
    assert.equal(after.metadata.labels, undefined);
    const [added] = specOf(after).ephemeralContainers ?? [];
    assert.deepEqual([added?.name, added?.terminationMessagePath], ['debug', '/dev/termination-log']);
  });

  it('are added by patches, as clients that debug send them', async () => {
    const { client } = server();
    const path = await newPod(client);
    for (const name of ['one', 'two']) {
      const spec = { ephemeralContainers: [{ ...debug, name, targetContainerName: 'main' }] };
      ok(await client.patch(path, { spec }, STRATEGIC));
    }
    const names = specOf(ok(await client.get(path))).ephemeralContainers?.map(({ name }) => name);
    assert.deepEqual(names?.sort(), ['one', 'two']);
  });

  it('stay as they are once they are there', async () => {
    const { client } = server();
    const path = await newPod(client);
    const present = ok(await client.patch(path, { spec: { ephemeralContainers: [debug] } }, STRATEGIC));
    const put = async (ephemeralContainers: readonly object[], message: RegExp): Promise<void> => {
      const spec = { ...specOf(present), ephemeralContainers };
      refused(await client.put(path, { ...present, spec }), 422, 'Invalid', message);
    };
    await put([], /existing ephemeral containers "debug" may not be removed/);
    await put([{ ...debug, image: 'another' }], /existing ephemeral containers "debug" may not be changed/);
  });

  for (const [what, container, message] of [
    ['the name of another container', { name: 'main' }, /ephemeralContainers\[0\].name: Duplicate value: "main"/],
    ['no image', { image: '' }, /ephemeralContainers\[0\].image: Required value/],
    ['a target that is not there', { targetContainerName: 'x' }, /targetContainerName: Not found: "x"/],
    ['ports', { ports: [{ containerPort: 80 }] }, /ports: Forbidden: cannot be set for an Ephemeral Container/],
    ['probes', { livenessProbe: { exec: { command: ['a'] } } }, /livenessProbe: Forbidden/],
    ['a lifecycle', { lifecycle: { preStop: { exec: { command: ['a'] } } } }, /lifecycle: Forbidden/],
    ['resources', { resources: { limits: { cpu: '1' } } }, /resources: Forbidden/],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      const { client } = server();
      const path = await newPod(client);
      const spec = { ephemeralContainers: [{ ...debug, ...container }] };
      refused(await client.patch(path, { spec }, STRATEGIC), 422, 'Invalid', message);
    });
  }
}

function approval(server: Server): void {
  const { certificates } = vocabulary('platform').groups;
  const path = `/apis/${certificates}/v1/certificatesigningrequests`;
  let made = 0;
  /** @returns The path of the approval of a new request. */
  const newRequest = async (client: Client): Promise<string> => {
    const name = `r-${process.pid}-${++made}`;
    const spec = { request: SIGNING_REQUEST, signerName: 'example.com/signer', usages: ['client auth'] };
    const object = { kind: 'CertificateSigningRequest', apiVersion: `${certificates}/v1`, metadata: { name }, spec };
    created(await client.post(path, object));
    return `${path}/${name}/approval`;
  };
  const condition = (type: string, more: object = {}): object => ({ type, status: 'True', reason: 'r', ...more });
  const decide = (...conditions: readonly object[]): object => ({ status: { conditions } });
  interface Times {
    readonly lastUpdateTime: string;
    readonly lastTransitionTime: string;
  }
  const times = (object: Document): Times => (object.status as { conditions: [Times] }).conditions[0];

  it('is dated by the server where the client does not', async () => {
    const { client } = server();
    const at = await newRequest(client);
    const { lastUpdateTime, lastTransitionTime } = times(ok(await client.patch(at, decide(condition('Approved')))));
    assert.ok(Math.abs(Date.parse(lastUpdateTime) - Date.now()) < 20_000);
    assert.equal(lastTransitionTime, lastUpdateTime);
    const other = await newRequest(client);
    const given = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-02T00:00:00Z' };
    const kept = times(ok(await client.patch(other, decide(condition('Approved', given)))));
    assert.deepEqual([kept.lastUpdateTime, kept.lastTransitionTime], Object.values(given));
    const again = times(ok(await client.patch(other, decide(condition('Approved', { message: 'm' })))));
    assert.equal(again.lastTransitionTime, given.lastTransitionTime);
    assert.notEqual(again.lastUpdateTime, given.lastUpdateTime);
  });

  it('is no denial, and stays', async () => {
    const { client } = server();
    const at = await newRequest(client);
    const both = decide(condition('Approved'), condition('Denied'));
    refused(await client.patch(at, both), 422, 'Invalid', /mutually exclusive/);
    const checked = decide(condition('Checked', { status: 'Unknown' }));
    const { status, metadata } = ok(await client.patch(at, { ...checked, metadata: { labels: { by: 'checker' } } }));
    const { conditions } = status as { conditions: readonly { type: string; status: string }[] };
    assert.deepEqual(
      [conditions.map((c) => [c.type, c.status]), metadata.labels],
      [[['Checked', 'Unknown']], { by: 'checker' }],
    );
    refused(
      await client.patch(at, decide(condition(''))),
      422,
      'Invalid',
      /status.conditions\[0\].type: Required value/,
    );
    const twice = await client.put(at, { ...ok(await client.get(at)), ...decide(condition('Denied'), condition('Denied')) }); // prettier-ignore
    refused(twice, 422, 'Invalid', /Duplicate value: "Denied"/);
    const untrue = await client.patch(at, decide(condition('Approved', { status: 'False' })));
    refused(untrue, 422, 'Invalid', /Unsupported value: "False": supported values: "True"/);
    ok(await client.patch(at, decide(condition('Denied'))));
    refused(await client.patch(at, decide()), 422, 'Invalid', /may not remove a condition of type "Denied"/);
    refused(await client.patch(at, decide(condition('Approved'))), 422, 'Invalid', /may not remove/);
  });
}

onServer('ephemeral containers', { store: 'embedded' }, ephemeral);
onServer('the approval of a request', { store: 'embedded' }, approval);
