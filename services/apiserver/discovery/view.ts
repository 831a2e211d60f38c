import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { firstMatch, mediaRanges, notAcceptable, type AnswerType, type MediaRange } from '../http/negotiation.js';
import { AGGREGATED_VERSIONS, type AggregatedVersion } from './aggregated.js';

/** The forms in which `/api` and `/apis` can be had. */
export type DiscoveryView =
  | { readonly form: 'groups'; readonly type: AnswerType }
  | { readonly form: 'aggregated'; readonly version: AggregatedVersion };

const AGGREGATED_KIND = 'APIGroupDiscoveryList';
const PLAIN_TYPES: readonly AnswerType[] = ['application/json', 'application/yaml'];

/** The media type of an aggregated answer; clients read its parameters. */
export const aggregatedType = ({ apiDiscoveryGroup }: Vocabulary, version: AggregatedVersion): string =>
  `application/json;g=${apiDiscoveryGroup};v=${version};as=${AGGREGATED_KIND}`;

function aggregatedVersion({ type, parameters }: MediaRange, vocabulary: Vocabulary): AggregatedVersion | undefined {
  if (parameters.get('as') !== AGGREGATED_KIND || parameters.get('g') !== vocabulary.apiDiscoveryGroup)
    return undefined;
  if (firstMatch({ type, parameters, quality: 1 }, ['application/json']) === undefined) return undefined;
  return AGGREGATED_VERSIONS.find((v) => v === parameters.get('v'));
}

/**
 * The first form that the client wants and we have; a form that we lack leads on to its next choice.
 *
 * @throws {StatusError} NotAcceptable
 */
export function discoveryView(accept: string | undefined, vocabulary: Vocabulary): DiscoveryView {
  for (const range of mediaRanges(accept)) {
    const version = aggregatedVersion(range, vocabulary);
    if (version !== undefined) return { form: 'aggregated', version };
    const type = range.parameters.has('as') ? undefined : firstMatch(range, PLAIN_TYPES);
    if (type !== undefined) return { form: 'groups', type };
  }
  throw notAcceptable([...PLAIN_TYPES, ...AGGREGATED_VERSIONS.map((v) => aggregatedType(vocabulary, v))]);
}
