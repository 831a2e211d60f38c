import { readFileSync } from 'node:fs';
import { apiVersionOf, type ApiObject } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { translated } from '../../authorization/rbac/bootstrap-policy.js';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../../registry/validation/flowcontrol/mandatory.js';

/** The resources that there are first objects of, in the order in which they are made: schemas name levels. */
export const FLOW_RESOURCES = ['prioritylevelconfigurations', 'flowschemas'] as const;
export type FlowResource = (typeof FLOW_RESOURCES)[number];

/** An object that every installation has. */
export interface FirstObject {
  readonly resource: FlowResource;
  /** It is always as it is here; the others are proposals that an operator may change. */
  readonly mandatory: boolean;
  readonly object: ApiObject;
}

const KINDS: Readonly<Record<FlowResource, string>> = {
  prioritylevelconfigurations: 'PriorityLevelConfiguration',
  flowschemas: 'FlowSchema',
};

interface Named {
  readonly name: string;
  readonly spec: object;
}

interface SuggestedFile {
  readonly priorityLevels: readonly Named[];
  readonly flowSchemas: readonly Named[];
}

const readSuggested = (): SuggestedFile =>
  JSON.parse(readFileSync(new URL('../data/suggested.json', import.meta.url), 'utf8')) as SuggestedFile; // our own file

/** The levels and schemas that every installation has, in one vocabulary's words, as a client would send them. */
export function firstObjects(vocabulary: Vocabulary): readonly FirstObject[] {
  const suggested = translated(readSuggested(), vocabulary.translate) as SuggestedFile; // same shape
  const of = (resource: FlowResource, mandatory: boolean, objects: readonly Named[]): FirstObject[] =>
    objects.map(({ name, spec }) => ({ resource, mandatory, object: objectOf(vocabulary, resource, name, spec) }));
  return [
    ...of('prioritylevelconfigurations', true, named(MANDATORY_PRIORITY_LEVELS)),
    ...of('prioritylevelconfigurations', false, suggested.priorityLevels),
    ...of('flowschemas', true, named(MANDATORY_FLOW_SCHEMAS)),
    ...of('flowschemas', false, suggested.flowSchemas),
  ];
}

const named = (specs: ReadonlyMap<string, object>): readonly Named[] =>
  [...specs].map(([name, spec]) => ({ name, spec }));

const objectOf = (
  { groups, annotations }: Vocabulary,
  resource: FlowResource,
  name: string,
  spec: object,
): ApiObject => ({
  kind: KINDS[resource],
  apiVersion: apiVersionOf({ group: groups.flowcontrol, version: 'v1beta2' }),
  metadata: { name, annotations: { [annotations.flowControlAutoupdate]: 'true' } },
  spec: structuredClone(spec),
});
