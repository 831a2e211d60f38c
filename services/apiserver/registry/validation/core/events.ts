import { isDeepStrictEqual } from 'node:util';
import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Event } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkImmutable, checkRule } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';

const MAX_WORD = 128;
const MAX_MESSAGE = 1024;
const DEFAULT = 'default';
const CORE = 'v1';

const isSet = (value: string | null | undefined): boolean => (value ?? '') !== '';

function checkLength(at: At, member: string, text: string, max: number): void {
  if (text.length > max) at.invalid(member, '', `can have at most ${max} characters`);
}

function checkWord(at: At, member: string, text: string): void {
  if (text === '') at.required(member);
  checkLength(at, member, text, MAX_WORD);
}

/** Further rules for events with an eventTime. */
function checkNewStyle(at: At, event: Event, apiVersion: string): void {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  // The member is called differently where such events are at home.
  const reporter = apiVersion === CORE ? 'reportingComponent' : 'reportingController';
  if (reportingComponent === '') at.required(reporter);
  checkRule(at, reporter, reportingComponent, qualifiedName);
  checkWord(at, 'reportingInstance', reportingInstance);
  checkWord(at, 'action', action);
  checkWord(at, 'reason', reason);
  checkLength(at, 'message', message, MAX_MESSAGE);
}

/** An event lies with what it is about; those about what lies nowhere, in a namespace that is always there. */
const checkEvent =
  (homes: readonly string[]) =>
  (event: ApiObject & Event, problems: Problems, apiVersion = CORE): void => {
    const at = At.root(problems);
    const isNewStyle = isSet(event.eventTime);
    const { namespace = '' } = event.metadata;
    const about = event.involvedObject?.namespace ?? '';
    const isAtHome = about === '' ? (isNewStyle ? homes : [DEFAULT]).includes(namespace) : about === namespace;
    if (!isAtHome && (about === '' || !isNewStyle)) {
      at.invalid('involvedObject.namespace', about, 'does not match event.namespace');
    }
    if (isNewStyle) checkNewStyle(at, event, apiVersion);
  };

const TYPES = ['Normal', 'Warning'];
const UNSET = 'needs to be unset';

function checkSeries(at: At, { series }: Event): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) at.invalid('series.count', '', 'should be at least 2');
  if (!isSet(series.lastObservedTime)) at.required('series.lastObservedTime');
}

/** Where events are at home they have a time, and nothing of what that has replaced. */
function checkStrictly(event: Event, problems: Problems): void {
  const at = At.root(problems);
  const { type = '', source, count = 0 } = event;
  checkSeries(at, event);
  if (!isSet(event.eventTime)) at.required('eventTime');
  if (!TYPES.includes(type)) at.invalid('type', '', `has invalid value: ${type}`);
  if (isSet(event.firstTimestamp)) at.invalid('firstTimestamp', '', UNSET);
  if (isSet(event.lastTimestamp)) at.invalid('lastTimestamp', '', UNSET);
  if (count !== 0) at.invalid('count', '', UNSET);
  if (isSet(source?.component) || isSet(source?.host)) at.invalid('source', '', UNSET);
}

/** Members, and what they are called where that differs. Only the series goes on. */
const FIXED: readonly (readonly [member: keyof Event, place?: string])[] = [
  ['involvedObject'],
  ['reason'],
  ['message'],
  ['source'],
  ['firstTimestamp'],
  ['lastTimestamp'],
  ['count'],
  ['type'],
  ['eventTime'],
  ['action'],
  ['related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance'],
];

function checkKept(next: ApiObject & Event, old: ApiObject & Event, problems: Problems): void {
  const at = At.root(problems);
  if (!isDeepStrictEqual(next.series, old.series)) checkSeries(at, next);
  for (const [member, place = member] of FIXED) checkImmutable(at, place, next[member], old[member]);
}

export function events({ namespaces, groups }: Vocabulary): KindValidation<Event> {
  const isStrict = (apiVersion?: string): boolean => apiVersion === `${groups.events}/v1`;
  return {
    object: checkEvent([DEFAULT, namespaces.system]),
    create: (event, problems, apiVersion) => {
      if (isStrict(apiVersion)) checkStrictly(event, problems);
    },
    update: (next, old, problems, apiVersion) => {
      if (isStrict(apiVersion)) checkKept(next, old, problems);
    },
  };
}
