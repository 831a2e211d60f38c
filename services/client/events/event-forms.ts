import type { Event as CoreEvent, ObjectReference } from '../../machinery/types/generated/core.v1.js';
import type { Event } from '../../machinery/types/generated/events.v1.js';
import type { AnyObject } from '../rest/resource-type.js';
import type { Correlated } from './correlator.js';

/** Who records. */
export interface EventSource {
  /** e.g. the name of a controller. */
  readonly component: string;
  /** e.g. the host. */
  readonly instance: string;
}

/** An event as one of the two APIs has it: as it is first written, and what changes with each further count. */
export interface EventForm {
  readonly object: (c: Correlated, source: EventSource, name: string) => AnyObject;
  readonly change: (c: Correlated) => object;
}

const DEFAULT_NAMESPACE = 'default';
/** Events are named after the object; the rest of the name is a dot and a time. */
const MOST_NAME = 200;

const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const micros = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

export const eventNamespace = ({ event }: Correlated): string => event.about.metadata?.namespace ?? DEFAULT_NAMESPACE;

/** @param unique Like no other of the process and the object. */
export function eventName({ event }: Correlated, unique: bigint): string {
  const name = (event.about.metadata?.name ?? '').toLowerCase().replace(/[^a-z0-9.-]/g, '-');
  const begin = name
    .slice(0, MOST_NAME)
    .replace(/^[.-]+|[.-]+$/g, '')
    .replace(/[.-]*\.[.-]*/g, '.');
  return `${begin === '' ? 'event' : begin}.${unique.toString(16)}`;
}

function referenceTo({ kind, apiVersion, metadata }: AnyObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata ?? {};
  return Object.fromEntries(
    Object.entries({ kind, apiVersion, namespace, name, uid, resourceVersion }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

const metadataOf = (c: Correlated, name: string): { name: string; namespace: string } => ({
  name,
  namespace: eventNamespace(c),
});

export const CORE_FORM: EventForm = {
  object: (c, { component, instance }, name): CoreEvent => ({
    metadata: metadataOf(c, name),
    involvedObject: referenceTo(c.event.about),
    ...(c.event.related === undefined ? {} : { related: referenceTo(c.event.related) }),
    type: c.event.type,
    reason: c.event.reason,
    message: c.message,
    source: { component, host: instance },
    reportingComponent: component,
    reportingInstance: instance,
    firstTimestamp: seconds(c.firstMs),
    lastTimestamp: seconds(c.lastMs),
    count: c.count,
  }),
  change: (c) => ({ count: c.count, lastTimestamp: seconds(c.lastMs), message: c.message }),
};

export const EVENTS_FORM: EventForm = {
  object: (c, { component, instance }, name): Event => ({
    metadata: metadataOf(c, name),
    regarding: referenceTo(c.event.about),
    ...(c.event.related === undefined ? {} : { related: referenceTo(c.event.related) }),
    type: c.event.type,
    reason: c.event.reason,
    action: c.event.action ?? c.event.reason,
    note: c.message,
    reportingController: component,
    reportingInstance: instance,
    eventTime: micros(c.firstMs),
    ...(c.count > 1 ? EVENTS_FORM.change(c) : {}),
  }),
  change: (c) => ({ series: { count: c.count, lastObservedTime: micros(c.lastMs) } }),
};
