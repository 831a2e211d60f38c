import { KindUnderTest } from '../testing/cases.js';
import { QUALIFIED } from '../testing/words.js';

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'x', namespace: 'default' },
  involvedObject: { kind: 'Pod', name: 'x', namespace: 'default' },
  eventTime: '2024-01-01T00:00:00.000000Z',
  reportingComponent: 'example.com/controller',
  reportingInstance: 'controller-0',
  action: 'Binding',
  reason: 'Scheduled',
  message: 'said',
  type: 'Normal',
};
const time = '2024-01-01T00:00:00Z';
const of = (asked: string): KindUnderTest => new KindUnderTest({ resource: 'events', type: 'core/v1.Event', asked });

describe('validation of events through the group of their own', () => {
  const kind = of('events.k8s.io/v1');
  kind.acceptsManifest('an event', event);
  kind.accepts(event, [
    { type: 'Warning', series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000000Z' } },
    { message: undefined },
  ]);
  kind.refuses(event, [
    [{ eventTime: undefined }, 'eventTime', 'Required value'],
    [{ type: 'Error' }, 'type', 'Invalid value: "": has invalid value: Error'],
    [{ type: undefined }, 'type', 'Invalid value: "": has invalid value: '],
    [{ firstTimestamp: time }, 'firstTimestamp', 'Invalid value: "": needs to be unset'],
    [{ lastTimestamp: time }, 'lastTimestamp', 'Invalid value: "": needs to be unset'],
    [{ count: 1 }, 'count', 'Invalid value: "": needs to be unset'],
    [{ source: { component: 'a' } }, 'source', 'Invalid value: "": needs to be unset'],
    [{ source: { host: 'a' } }, 'source', 'Invalid value: "": needs to be unset'],
    [
      { series: { count: 1 } },
      'series.count',
      'Invalid value: "": should be at least 2',
      'series.lastObservedTime',
      'Required value',
    ],
    [{ reportingInstance: '' }, 'reportingInstance', 'Required value'],
    [{ action: '' }, 'action', 'Required value'],
    [{ reason: '' }, 'reason', 'Required value'],
    [
      { reportingComponent: '' },
      'reportingController',
      'Required value',
      'reportingController',
      'Invalid value: "": name part must be non-empty',
      'reportingController',
      `Invalid value: "": ${QUALIFIED}`,
    ],
  ]);
  const fixed = (value: string): string => `Invalid value: "${value}": field is immutable`;
  kind.refusesUpdates(event, [
    [{ reason: 'Other' }, 'reason', fixed('Other')],
    [{ message: 'other' }, 'message', fixed('other')],
    [{ type: 'Warning' }, 'type', fixed('Warning')],
    [{ action: 'Other' }, 'action', fixed('Other')],
    [{ reportingComponent: 'a.b/c' }, 'reportingController', fixed('a.b/c')],
    [{ eventTime: '2024-01-02T00:00:00.000000Z' }, 'eventTime', fixed('2024-01-02T00:00:00.000000Z')],
    [
      { 'involvedObject.name': 'y' },
      'involvedObject',
      'Invalid value: {"kind":"Pod","namespace":"default","name":"y"}: field is immutable',
    ],
    [
      { series: { count: 0 } },
      'series.count',
      'Invalid value: "": should be at least 2',
      'series.lastObservedTime',
      'Required value',
    ],
  ]);
  kind.acceptsUpdates(event, [{ series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000000Z' } }]);
});

for (const asked of ['v1', 'events.k8s.io/v1beta1']) {
  describe(`validation of events through ${asked}`, () => {
    const kind = of(asked);
    kind.accepts(event, [
      { eventTime: undefined, reason: undefined, action: undefined, type: 'Error', count: 3, firstTimestamp: time },
      { source: { component: 'a' }, series: { count: 1 } },
    ]);
    kind.acceptsUpdates(event, [{ reason: 'Other', count: 4, lastTimestamp: time }]);
    kind.refuses(event, [
      [
        { reportingComponent: 'a b' },
        asked === 'v1' ? 'reportingComponent' : 'reportingController',
        `Invalid value: "a b": ${QUALIFIED}`,
      ],
    ]);
  });
}
