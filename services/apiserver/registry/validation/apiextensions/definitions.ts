import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
} from '../../../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkImmutable, each, requireEnum } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';
import { StructuralSchemas, type Schema } from './schemas.js';

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

const checkSchemas =
  (structural: StructuralSchemas): SchemaRule =>
  (definition, problems) => {
    each(At.root(problems, 'spec'), 'versions', specOf(definition).versions, ({ schema }, at) => {
      const { openAPIV3Schema: root } = schema ?? {};
      if (root !== undefined) structural.check(at.child('schema').child('openAPIV3Schema'), root as Schema);
    });
  };

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
  const rules = [requireSchemas, checkSchemas(new StructuralSchemas(vocabulary))];
  return {
    object: checkDefinition,
    create: (definition, problems) => {
      for (const rule of rules) rule(definition, problems);
    },
    update: (next, old, problems) => {
      checkUpdate(next, old, problems);
      for (const rule of rules) if (holds(rule, old)) rule(next, problems);
    },
  };
}
