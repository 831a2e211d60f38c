import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { jsonEqual } from '../../../../machinery/meta/own.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
} from '../../../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkImmutable, each, requireEnum } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';
import { approvalOf } from './approval.js';
import { checkDefaults } from './defaults.js';
import { NestedSchemas } from './nested-schemas.js';
import { RuleChecks } from './rule-checks.js';
import { RuleCosts } from './rule-costs.js';
import { SchemaRules } from './schema-rules.js';
import { StructuralSchemas, type Schema } from './schemas.js';
import { checkBundle, checkConversion, checkVersion } from './version-rules.js';

type Definition = ApiObject & CustomResourceDefinition;
type DefinitionSpec = CustomResourceDefinitionSpec;

const specOf = ({ spec = {} }: CustomResourceDefinition): DefinitionSpec => spec;

/** Reports the problems of a label as one. */
function checkLabel(at: At, member: string, text: string, prefix = ''): void {
  const problems = dns1035Label(prefix === '' ? text : text.toLowerCase());
  if (text !== '' && problems.length > 0) at.invalid(member, text, prefix + problems.join(','));
}

const MIXED_CASE = 'may have mixed case, but should otherwise match: ';

function checkNames(at: At, names: CustomResourceDefinitionNames): void {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  if (plural === '') at.required('plural');
  if (kind === '') at.required('kind');
  checkLabel(at, 'plural', plural);
  checkLabel(at, 'singular', singular);
  checkLabel(at, 'kind', kind, MIXED_CASE);
  checkLabel(at, 'listKind', listKind, MIXED_CASE);
  each(at, 'shortNames', names.shortNames, (name, nameAt) => checkLabel(nameAt, '', name));
  if (kind !== '' && kind === listKind) at.invalid('listKind', listKind, 'kind and listKind may not be the same');
  each(at, 'categories', names.categories, (name, nameAt) => checkLabel(nameAt, '', name));
}

function checkVersions(at: At, versions: NonNullable<DefinitionSpec['versions']>): void {
  each(at, 'versions', versions, ({ name = '' }, versionAt) => {
    const problems = dns1035Label(name);
    if (problems.length > 0) versionAt.invalid('name', name, problems.join(','));
  });
  const names = versions.map(({ name }) => name);
  if (new Set(names).size < names.length) at.invalid('versions', names, 'must contain unique version names');
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    at.invalid('versions', names, 'must have exactly one version marked as storage version');
  }
}

function checkGroup(at: At, group: string): void {
  const problems = dns1123Subdomain(group);
  if (group === '') at.required('group');
  else if (problems.length > 0) at.invalid('group', group, problems.join(','));
  else if (!group.includes('.')) at.invalid('group', group, 'should be a domain with at least one dot');
}

function checkDefinition(object: Definition, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const { group = '', scope, names = {}, versions } = specOf(object);
  const { name } = object.metadata;
  if (name !== `${names.plural ?? ''}.${group}`) {
    At.root(problems, 'metadata').invalid('name', name, 'must be spec.names.plural+"."+spec.group');
  }
  checkGroup(at, group);
  requireEnum(at, 'scope', scope, ['Cluster', 'Namespaced']);
  checkVersions(at, versions ?? []);
  checkNames(at.child('names'), names);
}

/** Rules for all schemas of a definition; a stored definition that breaks them may keep doing so. */
type SchemaRule = (definition: Definition, problems: Problems) => void;

const requireSchemas: SchemaRule = (definition, problems) => {
  each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, ({ schema }, at) => {
    if (schema?.openAPIV3Schema === undefined) at.required('schema.openAPIV3Schema', 'schemas are required');
  });
};

/** Asks something of each schema. */
const eachSchema =
  (check: (at: At, schema: Schema) => void): SchemaRule =>
  (definition, problems) => {
    each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, ({ schema }, at) => {
      const { openAPIV3Schema: root } = schema ?? {};
      if (root !== undefined) check(at.child('schema').child('openAPIV3Schema'), root as Schema);
    });
  };

const checkVersionParts: SchemaRule = (definition, problems) => {
  each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, (version, at) => checkVersion(at, version));
};

/** Without the schemas that are stored as they are: what their rules cost was looked at when they were written. */
function changedSchemas(definition: Definition, old: Definition): Definition {
  const before = new Map(specOf(old).versions?.map(({ name, schema }) => [name, schema?.openAPIV3Schema]));
  const versions = (specOf(definition).versions ?? []).map((version) =>
    jsonEqual(before.get(version.name), version.schema?.openAPIV3Schema) ? { ...version, schema: {} } : version,
  );
  return { ...definition, spec: { ...specOf(definition), versions } };
}

/** What can be asked of schemas that are right. */
const whereRight =
  (structure: readonly SchemaRule[], check: (at: At, schema: Schema) => void): SchemaRule =>
  (definition, problems) => {
    if (structure.every((rule) => holds(rule, definition))) eachSchema(check)(definition, problems);
  };

const keepsAll =
  ({ openApiExtension }: Vocabulary): SchemaRule =>
  (definition, problems) => {
    if (specOf(definition).preserveUnknownFields !== true) return;
    const instead = openApiExtension('preserve-unknown-fields');
    const why = `cannot set to true, set ${instead} to true in spec.versions[*].schema instead`;
    At.root(problems, 'spec').invalid('preserveUnknownFields', true, why);
  };

/** How objects are converted. */
const checkWays: SchemaRule = (definition, problems) => {
  const { conversion } = specOf(definition);
  if (conversion === undefined) return;
  checkConversion(At.root(problems, 'spec').child('conversion'), conversion);
};

/** A webhook in use must be one that can be trusted; one that is not yet may be told later by whom. */
const checkTrust: SchemaRule = (definition, problems) => {
  const { conversion } = specOf(definition);
  if (conversion?.strategy === 'Webhook') checkBundle(At.root(problems, 'spec').child('conversion'), conversion);
};

/** There may be objects that are stored in it: nothing else could tell what they are. */
const keepStoredVersions: SchemaRule = ({ spec, status }, problems) => {
  const names = new Set(spec?.versions?.map(({ name }) => name));
  each(At.root(problems, 'status'), 'storedVersions', status?.storedVersions ?? undefined, (name, at) => {
    if (names.has(name)) return;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    at.invalid('', name, why);
  });
};

function checkApproval(next: Definition, old: Definition | undefined, problems: Problems, words: Vocabulary): void {
  const approval = approvalOf(next, specOf(next).group ?? '', words);
  if (
    approval === undefined ||
    (old !== undefined && approvalOf(old, specOf(old).group ?? '', words)?.state === approval.state)
  )
    return;
  const at = At.root(problems, 'metadata').child('annotations').key(words.annotations.apiApproved);
  if (approval.state === 'missing') at.required('', approval.message);
  if (approval.state === 'invalid') at.invalid('', approval.value, approval.message);
}

function holds(rule: SchemaRule, definition: Definition): boolean {
  const problems: Problems = [];
  rule(definition, problems);
  return problems.length === 0;
}

const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false;

/** Where objects are stored, and what they are called there. */
function checkUpdate(next: Definition, old: Definition, problems: Problems): void {
  const at = At.root(problems, 'spec');
  const spec = specOf(next);
  const oldSpec = specOf(old);
  if (isEstablished(old)) {
    checkImmutable(at, 'scope', spec.scope, oldSpec.scope);
    checkImmutable(at, 'names.kind', spec.names?.kind, oldSpec.names?.kind);
  }
  checkImmutable(at, 'group', spec.group, oldSpec.group);
  checkImmutable(at, 'names.plural', spec.names?.plural, oldSpec.names?.plural);
}

/** Rules for names, group, scope and schemas of a definition. */
export function customResourceDefinitions(vocabulary: Vocabulary): KindValidation<CustomResourceDefinition> {
  const structural = new StructuralSchemas(vocabulary);
  const schemas = new SchemaRules(vocabulary);
  const nested = new NestedSchemas(vocabulary);
  const ruleChecks = new RuleChecks(vocabulary);
  const structure = [
    requireSchemas,
    eachSchema((at, schema) => structural.check(at, schema)),
    eachSchema((at, schema) => nested.walk(at, schema)),
    eachSchema((at, schema) => schemas.check(at, schema)),
  ];
  const ruleCosts = new RuleCosts(vocabulary);
  const checkCosts = (definition: Definition, asked: Definition, problems: Problems): void => {
    if (!structure.every((rule) => holds(rule, definition))) return;
    eachSchema((at, schema) => ruleCosts.check(at, schema))(asked, problems);
  };
  const rules = [
    ...structure,
    whereRight(structure, (at, schema) => checkDefaults(at, schema, vocabulary.openApiExtension)),
    whereRight(structure, (at, schema) => ruleChecks.check(at, schema)),
    checkVersionParts,
    keepsAll(vocabulary),
    checkWays,
  ];
  return {
    object: checkDefinition,
    create: (definition, problems) => {
      for (const rule of rules) rule(definition, problems);
      checkCosts(definition, definition, problems);
      checkApproval(definition, undefined, problems, vocabulary);
    },
    update: (next, old, problems) => {
      checkUpdate(next, old, problems);
      const more = isEstablished(old) ? [keepStoredVersions, checkTrust] : [keepStoredVersions];
      for (const rule of [...rules, ...more]) if (holds(rule, old)) rule(next, problems);
      checkCosts(next, changedSchemas(next, old), problems);
      checkApproval(next, old, problems, vocabulary);
    },
  };
}
