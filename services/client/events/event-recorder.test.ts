import assert from 'node:assert/strict';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { ApiError, type ApiClient } from '../rest/client.js';
import type { ResourceType } from '../rest/resource-type.js';
import { EventCorrelator } from './correlator.js';
import type { EventRecorder, RecordedEvent } from './event-recorder.js';
import { openEventRecorder } from './open-event-recorder.js';

const POD = { kind: 'Pod', apiVersion: 'v1', metadata: { namespace: 'ns', name: 'p', uid: 'u' } };
const event = (message: string, more: Partial<RecordedEvent> = {}): RecordedEvent => ({
  about: POD,
  type: 'Warning',
  reason: 'Failed',
  message,
  ...more,
});

describe('EventCorrelator', () => {
  let time: number;
  let correlator: EventCorrelator;
  beforeEach(() => {
    time = 0;
    correlator = new EventCorrelator(() => time, () => 1_000_000 + time); // prettier-ignore
  });
  const shown = (e: RecordedEvent): string => {
    const { message, count } = correlator.correlate(e) ?? { message: 'dropped', count: 0 };
    return `${message} ${count}`;
  };

  it('counts equal events, from the time of the first', () => {
    shown(event('a'));
    time = 5_000;
    const { count, firstMs, lastMs } = correlator.correlate(event('a')) ?? assert.fail();
    assert.deepEqual([count, firstMs, lastMs], [2, 1_000_000, 1_005_000]);
  });

  it('tells events apart by object, type, reason, action and message', () => {
    const others = [
      event('a'),
      event('b'),
      event('a', { type: 'Normal' }),
      event('a', { reason: 'Other' }),
      event('a', { action: 'Other' }),
      event('a', { about: { ...POD, metadata: { ...POD.metadata, uid: 'v' } } }),
      event('a', { about: { ...POD, kind: 'Node' } }),
    ];
    const keys = others.map((e) => correlator.correlate(e)?.key);
    assert.equal(new Set(keys).size, others.length);
    assert.deepEqual(others.map((e) => correlator.correlate(e)?.count), others.map(() => 2)); // prettier-ignore
  });

  it('combines those that differ in the message alone, after ten', () => {
    for (let i = 0; i < 10; i++) assert.equal(shown(event(`m${i}`)), `m${i} 1`);
    assert.equal(shown(event('m10')), '(combined from similar events): m10 1');
    assert.equal(shown(event('m11')), '(combined from similar events): m11 2');
    assert.equal(shown(event('m3')), 'm3 2');
  });

  it('begins anew after ten quiet minutes', () => {
    for (let i = 0; i < 10; i++) shown(event(`m${i}`));
    time = 600_000;
    assert.equal(shown(event('m10')), '(combined from similar events): m10 1');
    time = 1_200_001;
    assert.equal(shown(event('m11')), 'm11 1');
  });

  it('drops what one object has too many of: 25, and one more each 300 s', () => {
    for (let i = 0; i < 25; i++) assert.notEqual(shown(event('a')), 'dropped 0');
    assert.equal(shown(event('a')), 'dropped 0');
    assert.notEqual(shown(event('a', { about: { ...POD, kind: 'Node' } })), 'dropped 0');
    time = 300_000;
    assert.equal(shown(event('a')), 'a 27');
    assert.equal(shown(event('a')), 'dropped 0');
  });

  it('keeps 1,024 characters of a message', () =>
    assert.equal(correlator.correlate(event('x'.repeat(2_000)))?.message.length, 1_024));
});

describe('openEventRecorder()', () => {
  let asked: { readonly to: string; readonly body: Readonly<Record<string, unknown>> }[];
  let served: boolean;
  let missing: boolean;
  let failing: boolean;
  let warnings: number;
  let stop: AbortController;
  let recorder: EventRecorder;
  beforeEach(() => {
    [asked, served, missing, failing, warnings] = [[], true, false, false, 0];
    stop = new AbortController();
    const log = { debug: () => undefined, info: () => undefined, warn: () => (warnings += 1), error: () => undefined };
    const source = { component: 'it', instance: 'host' };
    recorder = openEventRecorder({ client, vocabulary: vocabulary('platform'), source, log, signal: stop.signal });
  });

  const answered = (to: string, body: object): Promise<object> => {
    asked.push({ to, body: body as Readonly<Record<string, unknown>> });
    return failing ? Promise.reject(new Error('away')) : Promise.resolve({});
  };
  const client = {
    raw: () => Promise.resolve({ status: served ? 200 : 404 }),
    resource: ({ group }: ResourceType) => ({
      create: (body: object) => answered(`create ${group}`, body),
      patch: ({ namespace, name }: { namespace: string; name: string }, type: string, body: object) => {
        if (!missing) return answered(`${type} ${group} ${namespace}/${name}`, body);
        const status = { reason: 'NotFound' } as never;
        return Promise.reject(new ApiError(404, 'gone', { status }));
      },
    }),
  } as unknown as ApiClient;
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  const recorded = async (...events: RecordedEvent[]): Promise<void> => {
    for (const e of events) recorder.record(e);
    await turns();
  };
  const nameOf = (i: number): string => (asked[i]?.body['metadata'] as { name: string }).name;

  it('writes to the newer API where it is served', async () => {
    await recorded(event('a', { action: 'Doing' }), event('a', { action: 'Doing' }));
    const { eventTime, metadata, ...body } = asked[0]?.body ?? assert.fail();
    assert.match(String(eventTime), /^\d{4}-.*\.\d{6}Z$/);
    assert.equal((metadata as { namespace: string }).namespace, 'ns');
    assert.match(nameOf(0), /^p\.[0-9a-f]+$/);
    assert.deepEqual(body, {
      regarding: { kind: 'Pod', apiVersion: 'v1', namespace: 'ns', name: 'p', uid: 'u' },
      type: 'Warning',
      reason: 'Failed',
      action: 'Doing',
      note: 'a',
      reportingController: 'it',
      reportingInstance: 'host',
    });
    assert.equal(asked[1]?.to, `merge events.platform.io ns/${nameOf(0)}`);
    assert.equal((asked[1].body['series'] as { count: number }).count, 2);
  });

  it('writes to the core API where there is no other', async () => {
    served = false;
    await recorded(event('a'), event('a'));
    const { involvedObject, message, source, count, firstTimestamp } = asked[0]?.body ?? assert.fail();
    assert.equal((involvedObject as { uid: string }).uid, 'u');
    assert.deepEqual([message, source, count], ['a', { component: 'it', host: 'host' }, 1]);
    assert.match(String(firstTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(asked[1]?.to, `merge  ns/${nameOf(0)}`);
    assert.equal(asked[1].body['count'], 2);
  });

  it('makes an event again whose time to live is over', async () => {
    await recorded(event('a'));
    missing = true;
    await recorded(event('a'));
    assert.deepEqual(asked.map(({ to }) => to), ['create events.platform.io', 'create events.platform.io']); // prettier-ignore
    assert.equal((asked[1]?.body['series'] as { count: number }).count, 2);
    assert.notEqual(nameOf(0), nameOf(1));
  });

  it('names events of objects that no name of an event can hold', async () => {
    await recorded(event('a', { about: { kind: 'ClusterRole', metadata: { name: 'system::Node:x' } } }));
    assert.match(nameOf(0), /^system--node-x\.[0-9a-f]+$/);
    assert.equal((asked[0]?.body['metadata'] as { namespace: string }).namespace, 'default');
  });

  it('logs what cannot be written, and goes on', async () => {
    failing = true;
    await recorded(event('a'));
    failing = false;
    await recorded(event('b'));
    assert.deepEqual([warnings, asked.length], [1, 2]);
  });

  it('keeps 1,000 that wait, says once that there are more, and writes none after its signal', async () => {
    const many = Array.from({ length: 1_100 }, (_, i) =>
      event('a', { about: { ...POD, metadata: { name: `p${i}` } } }),
    );
    for (const e of many) recorder.record(e);
    assert.equal(warnings, 1);
    for (let i = 0; i < 300; i++) await turns();
    assert.ok(asked.length >= 1_000 && asked.length <= 1_001, String(asked.length));
    stop.abort();
    await recorded(event('late'));
    assert.ok(asked.length <= 1_001);
  });
});
