import assert from 'node:assert/strict';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.js';
import { documentOf } from '../testing/document.js';
import { ask, PODS } from '../testing/pods.js';
import { eventRateLimit } from './event-rate-limit.js';

const words = vocabulary('platform');
const HEAD = 'apiVersion: eventratelimit.admission.platform.io/v1alpha1\nkind: Configuration\n';
const EVENTS = { ...PODS, resource: 'events', kind: 'Event' };

const event = (members: object = {}): ApiObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'e', namespace: 'ns' },
  involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u', apiVersion: 'v1' },
  source: { component: 'c', host: 'h' },
  ...members,
});
const by = (name: string): Partial<AdmissionRequest> => ({ user: { name, uid: '', groups: [], extra: {} } });

class Scene {
  now = 0;
  readonly #plugin: AdmissionPlugin;

  constructor(...limits: readonly string[]) {
    const document = documentOf(`${HEAD}limits:\n${limits.map((limit) => `- {${limit}}\n`).join('')}`);
    this.#plugin = eventRateLimit({ vocabulary: words, document, nowMs: () => this.now });
  }

  async send(said: Partial<AdmissionRequest> = {}, object = event(), resource = EVENTS): Promise<string> {
    const { why, error } = await ask(this.#plugin, object, said, resource);
    if (error !== undefined) assert.deepEqual([error.code, error.reason], [429, 'TooManyRequests']);
    return why;
  }

  async passing(...events: readonly Partial<AdmissionRequest>[]): Promise<string> {
    let passing = '';
    for (const one of events) passing += (await this.send(one)) === '' ? '+' : '-';
    return passing;
  }
}

const reached = (type: string, key: string): string => `limit reached on type ${type} for key ${key}`;

describe('eventRateLimit()', () => {
  it('lets a burst through, then as many a second as it says', async () => {
    const scene = new Scene('type: Server, qps: 2, burst: 3');
    assert.equal(await scene.passing({}, {}, {}, {}), '+++-');
    scene.now += 499;
    assert.equal(await scene.passing({}), '-');
    scene.now += 1;
    assert.equal(await scene.passing({}, {}), '+-');
    scene.now += 60_000;
    assert.equal(await scene.passing({}, {}, {}, {}), '+++-');
    assert.equal(await scene.send(), `Too many requests: ${reached('Server', '')}`);
  });

  for (const [type, key, other] of [
    ['Namespace', 'ns', { namespace: 'other' }],
    ['User', 'tester', by('other')],
  ] as const) {
    it(`counts by ${type}`, async () => {
      const scene = new Scene(`type: ${type}, qps: 1, burst: 1`);
      assert.equal(await scene.passing({}, {}, other, other), '+-+-');
      assert.equal(await scene.send(), `Too many requests: ${reached(type, key)}`);
    });
  }

  it('counts by source and object', async () => {
    const scene = new Scene('type: SourceAndObject, qps: 1, burst: 1');
    const about = event()['involvedObject'] ?? {};
    const others = [
      event({ source: { component: 'd', host: 'h' } }),
      event({ source: { component: 'c', host: 'i' } }),
      ...['kind', 'namespace', 'name', 'uid', 'apiVersion'].map((member) =>
        event({ involvedObject: { ...about, [member]: 'other' } }),
      ),
      event({ source: undefined, involvedObject: undefined }),
    ];
    for (const one of [event(), ...others]) assert.equal(await scene.send({}, one), '');
    assert.equal(await scene.send(), `Too many requests: ${reached('SourceAndObject', 'chPodnspuv1')}`);
  });

  it('takes a token of each limit, and tells of all that are reached', async () => {
    const scene = new Scene('type: Namespace, qps: 1, burst: 1', 'type: User, qps: 1, burst: 2');
    assert.equal(await scene.send(), '');
    assert.equal(await scene.send(), `Too many requests: ${reached('Namespace', 'ns')}`);
    const both = `[${reached('Namespace', 'ns')}, ${reached('User', 'tester')}]`;
    assert.equal(await scene.send(), `Too many requests: ${both}`);
    assert.equal(await scene.send({ namespace: 'other' }), `Too many requests: ${reached('User', 'tester')}`);
  });

  it('keeps as many buckets as it may, and gives up the one that was not asked for longest', async () => {
    const scene = new Scene('type: User, qps: 1, burst: 1, cacheSize: 2');
    assert.equal(await scene.passing(by('a'), by('b'), by('a'), by('c')), '++-+');
    assert.equal(await scene.passing(by('a'), by('b')), '-+');
  });

  it('counts changes and both groups of events', async () => {
    const scene = new Scene('type: Server, qps: 1, burst: 2');
    assert.equal(await scene.send({ operation: 'UPDATE', oldObject: event() }), '');
    assert.equal(await scene.send({}, event(), { ...EVENTS, group: words.groups.events }), '');
    assert.notEqual(await scene.send(), '');
  });

  it('counts nothing else, and no rehearsal', async () => {
    const scene = new Scene('type: Server, qps: 1, burst: 1');
    assert.equal(await scene.passing({ dryRun: true }, { dryRun: true }, { operation: 'DELETE' }), '+++');
    assert.equal(await scene.send({}, event(), PODS), '');
    assert.equal(await scene.passing({}, { dryRun: true }, {}), '++-');
  });

  for (const [limits, why] of [
    ['limits: []', 'line 3: limits: must not be empty'],
    ['', 'line 1: limits: must not be empty'],
    ['limits:\n- {qps: 1, burst: 1}', 'line 4: limits[0].type: is required'],
    [
      'limits:\n- {type: All, qps: 1, burst: 1}',
      'line 4: limits[0].type: must be "Server" or "Namespace" or "User" or "SourceAndObject"',
    ],
    ['limits:\n- {type: User, burst: 1}', 'line 4: limits[0].qps: is required'],
    ['limits:\n- {type: User, qps: 1}', 'line 4: limits[0].burst: is required'],
    ['limits:\n- {type: User, qps: 0, burst: 1}', 'line 4: limits[0].qps: must be an integer from 1 to 2147483647'],
    [
      'limits:\n- {type: User, qps: 1, burst: 1, cacheSize: -1}',
      'line 4: limits[0].cacheSize: must be an integer from 0 to 1000000',
    ],
    ['limits:\n- {type: User, qps: 1, burst: 1, size: 1}', 'line 4: limits[0].size: is unknown'],
  ] as const) {
    it(`does not start with ${JSON.stringify(limits)}`, () => {
      const document = documentOf(HEAD + limits);
      assert.throws(() => eventRateLimit({ vocabulary: words, document }), new Error(`plugin.yaml: ${why}`));
    });
  }

  it('does not start without a configuration', () => {
    assert.throws(() => eventRateLimit({ vocabulary: words, document: undefined }), /needs a configuration/);
  });
});
