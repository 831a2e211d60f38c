import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';

/** What a definition in a group of the product's own domains says of its approval. */
export interface Approval {
  readonly state: 'missing' | 'invalid' | 'approved' | 'unapproved';
  readonly value: string;
  readonly message: string;
}

/** Where to read about the annotation. */
const ABOUT = 'https://github.com/kubernetes/enhancements/pull/1111';

/** @returns Undefined for groups of other domains, which need none. */
export function approvalOf(definition: ApiObject, group: string, words: Vocabulary): Approval | undefined {
  const { reservedDomains, annotations } = words;
  if (!reservedDomains.some((domain) => group === domain || group.endsWith(`.${domain}`))) return undefined;
  const value = definition.metadata.annotations?.[annotations.apiApproved] ?? '';
  const wanted = `protected groups must have approval annotation ${JSON.stringify(annotations.apiApproved)}`;
  if (value === '') return { state: 'missing', value, message: `${wanted}, see ${ABOUT}` };
  if (value.startsWith('unapproved')) {
    return { state: 'unapproved', value, message: `not approved: ${JSON.stringify(value)}` };
  }
  if (isWholeUrl(value)) return { state: 'approved', value, message: `approved in ${value}` };
  const message = `${wanted} with either a URL or a reason starting with "unapproved", see ${ABOUT}`;
  return { state: 'invalid', value, message };
}

const isWholeUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) && URL.canParse(text);
