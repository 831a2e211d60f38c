import { qualifiedName } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import { checkRule } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';

interface EventBody {
  readonly involvedObject?: { readonly namespace?: string };
  readonly eventTime?: string | null;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly message?: string;
}

const MAX_WORD = 128;
const MAX_MESSAGE = 1024;
const DEFAULT = 'default';

function checkLength(at: At, member: string, text: string, max: number): void {
  if (text.length > max) at.invalid(member, '', `can have at most ${max} characters`);
}

function checkWord(at: At, member: string, text: string): void {
  if (text === '') at.required(member);
  checkLength(at, member, text, MAX_WORD);
}

/** What an event that has a time of its own must say besides. */
function checkNewStyle(at: At, event: EventBody): void {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '', message = '' } = event;
  // The member is called differently where such events are at home.
  if (reportingComponent === '') at.required('reportingController');
  checkRule(at, 'reportingController', reportingComponent, qualifiedName);
  checkWord(at, 'reportingInstance', reportingInstance);
  checkWord(at, 'action', action);
  checkWord(at, 'reason', reason);
  checkLength(at, 'message', message, MAX_MESSAGE);
}

/** An event lies with what it is about; those about what lies nowhere, in a namespace that is always there. */
const checkEvent =
  (homes: readonly string[]) =>
  (object: ApiObject, problems: Problems): void => {
    const at = At.root(problems);
    const event = object as ApiObject & EventBody;
    const isNewStyle = (event.eventTime ?? '') !== '';
    const { namespace = '' } = object.metadata;
    const about = event.involvedObject?.namespace ?? '';
    const isAtHome = about === '' ? (isNewStyle ? homes : [DEFAULT]).includes(namespace) : about === namespace;
    if (!isAtHome && (about === '' || !isNewStyle)) {
      at.invalid('involvedObject.namespace', about, 'does not match event.namespace');
    }
    if (isNewStyle) checkNewStyle(at, event);
  };

export const events = ({ namespaces }: Vocabulary): KindValidation => ({
  object: checkEvent([DEFAULT, namespaces.system]),
});
