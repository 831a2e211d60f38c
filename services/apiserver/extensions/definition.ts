import type { ApiObject } from '../../machinery/meta/object.js';
import { isJsonObject } from '../../machinery/meta/own.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionVersion,
} from '../../machinery/types/generated/apiextensions.v1.js';
import type { SchemaJson } from '../../machinery/structural/read-schema.js';

/** A definition of custom resources, as it is stored. */
export type Definition = ApiObject & CustomResourceDefinition;

export type ConditionType =
  'NamesAccepted' | 'Established' | 'Terminating' | 'NonStructuralSchema' | 'PolicyConformant';

export const specOf = ({ spec = {} }: CustomResourceDefinition): NonNullable<CustomResourceDefinition['spec']> => spec;

export const versionsOf = (definition: CustomResourceDefinition): readonly CustomResourceDefinitionVersion[] =>
  specOf(definition).versions ?? [];

export const conditionsOf = ({ status }: CustomResourceDefinition): readonly CustomResourceDefinitionCondition[] =>
  status?.conditions ?? [];

export const isTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  conditionsOf(definition).some((condition) => condition.type === type && condition.status === 'True');

export const isBeingDeleted = ({ metadata }: Definition): boolean => (metadata.deletionTimestamp ?? '') !== '';

/** What a version without a schema has: anything. */
const ANYTHING: SchemaJson = { type: 'object' };

export function schemaOf({ schema }: CustomResourceDefinitionVersion): SchemaJson {
  const root: unknown = schema?.openAPIV3Schema;
  return isJsonObject(root) ? root : ANYTHING;
}
