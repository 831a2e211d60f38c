import type { ApiObject } from '../../../../machinery/meta/object.js';
import { jsonEqual } from '../../../../machinery/meta/own.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
} from '../../../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Work } from '../../../../machinery/work/work.js';
import { At, each } from '../checks/at.js';
import type { Problems } from '../types.js';
import { checkDefaults } from './defaults.js';
import { NestedSchemas } from './nested-schemas.js';
import { ReadSchemas } from './read-schemas.js';
import { RuleChecks } from './rule-checks.js';
import { RuleCosts } from './rule-costs.js';
import { SchemaRules } from './schema-rules.js';
import { StructuralSchemas, type Schema } from './schemas.js';
import { checkBundle, checkConversion, checkVersion } from './version-rules.js';

export type Definition = ApiObject & CustomResourceDefinition;

export const specOf = ({ spec = {} }: CustomResourceDefinition): CustomResourceDefinitionSpec => spec;

/** Asks something of a definition, in parts; a stored definition that breaks it may keep doing so. */
export type DefinitionRule = (definition: Definition, problems: Problems) => Work<void>;

/** What is asked of the specs of definitions, in the order in which problems are told. */
export interface SpecRules {
  /** Whether schemas are right, so that they can be read. */
  readonly structure: readonly DefinitionRule[];
  /** Asked of schemas that are right. */
  readonly ofRight: readonly DefinitionRule[];
  readonly beside: readonly DefinitionRule[];
  /** What the rules of schemas cost at most; of schemas that are right. */
  readonly costs: DefinitionRule;
}

/** A rule in one part. */
export const atOnce = (ask: (definition: Definition, problems: Problems) => void): DefinitionRule =>
  function* (definition, problems) {
    ask(definition, problems);
    yield;
  };

const requireSchemas = atOnce((definition, problems) => {
  each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, ({ schema }, at) => {
    if (schema?.openAPIV3Schema === undefined) at.required('schema.openAPIV3Schema', 'schemas are required');
  });
});

/** Asks something of each schema. */
const eachSchema = (check: (at: At, schema: Schema) => Work<void> | void): DefinitionRule =>
  function* (definition, problems) {
    const at = At.root(problems, 'spec').child('versions');
    for (const [i, { schema }] of (specOf(definition).versions ?? []).entries()) {
      const root = schema?.openAPIV3Schema as Schema | undefined;
      if (root === undefined) continue;
      const parts = check(at.index(i).child('schema').child('openAPIV3Schema'), root);
      if (parts !== undefined) yield* parts;
      yield;
    }
  };

const checkVersionParts = (vocabulary: Vocabulary): DefinitionRule =>
  atOnce((definition, problems) => {
    each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, (version, at) =>
      checkVersion(at, version, vocabulary),
    );
  });

/** Without the schemas that are stored as they are: what their rules cost was looked at when they were written. */
export function changedSchemas(definition: Definition, old: Definition): Definition {
  const before = new Map(specOf(old).versions?.map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
  const versions = (specOf(definition).versions ?? []).map((version) =>
    jsonEqual(before.get(version.name), version.schema?.openAPIV3Schema) ? { ...version, schema: {} } : version,
  );
  return { ...definition, spec: { ...specOf(definition), versions } };
}

const keepsAll = ({ openApiExtension }: Vocabulary): DefinitionRule =>
  atOnce((definition, problems) => {
    if (specOf(definition).preserveUnknownFields !== true) return;
    const instead = openApiExtension('preserve-unknown-fields');
    const why = `cannot set to true, set ${instead} to true in spec.versions[*].schema instead`;
    At.root(problems, 'spec').invalid('preserveUnknownFields', true, why);
  });

/** How objects are converted. */
const checkWays = atOnce((definition, problems) => {
  const { conversion } = specOf(definition);
  if (conversion === undefined) return;
  checkConversion(At.root(problems, 'spec').child('conversion'), conversion);
});

/** A webhook in use must be one that can be trusted; one that is not yet may be told later by whom. */
export const checkTrust = atOnce((definition, problems) => {
  const { conversion } = specOf(definition);
  if (conversion?.strategy === 'Webhook') checkBundle(At.root(problems, 'spec').child('conversion'), conversion);
});

export function specRules(vocabulary: Vocabulary): SpecRules {
  const structural = new StructuralSchemas(vocabulary);
  const nested = new NestedSchemas(vocabulary);
  const schemas = new SchemaRules(vocabulary);
  const read = new ReadSchemas(vocabulary);
  const ruleChecks = new RuleChecks(vocabulary, read);
  const ruleCosts = new RuleCosts(vocabulary, read);
  return {
    structure: [
      requireSchemas,
      eachSchema((at, schema) => structural.check(at, schema)),
      eachSchema((at, schema) => nested.walk(at, schema)),
      eachSchema((at, schema) => schemas.check(at, schema)),
    ],
    ofRight: [
      eachSchema((at, schema) => checkDefaults(at, read.of(schema))),
      eachSchema((at, schema) => ruleChecks.check(at, read.of(schema))),
    ],
    beside: [checkVersionParts(vocabulary), keepsAll(vocabulary), checkWays],
    costs: eachSchema((at, schema) => ruleCosts.check(at, read.of(schema))),
  };
}
