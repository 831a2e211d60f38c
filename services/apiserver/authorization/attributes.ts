import { pathSegment } from '../../machinery/meta/names.js';
import { parseFieldSelector, type FieldTerm } from '../../machinery/selectors/field-selector.js';
import type { RequestInfo } from '../request/request.js';
import type { Attributes } from './authorizer.js';

/**
 * The attributes of a request that rules are compared with. A list or a watch of the one object of a name is about that
 * name: who may read it may wait for it, too.
 */
export function attributesOf(info: RequestInfo, query: URLSearchParams): Attributes {
  if (info.kind === 'path' || info.name !== '' || (info.verb !== 'list' && info.verb !== 'watch')) return info;
  const selector = query.get('fieldSelector');
  const name = selector === null ? '' : selectedName(selector);
  return name === '' ? info : { ...info, name };
}

/** '' when the selector names no object, or cannot be read: it is refused later, where lists are. */
function selectedName(selector: string): string {
  const term = termsOf(selector).find(({ key, operator, value }) => key === NAME && operator === '=' && value !== '');
  return term === undefined || pathSegment(term.value).length > 0 ? '' : term.value;
}
const NAME = 'metadata.name';

function termsOf(selector: string): readonly FieldTerm[] {
  try {
    return parseFieldSelector(selector);
  } catch {
    return [];
  }
}
