import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import { jsonEqual } from '../../../../machinery/meta/own.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
} from '../../../../machinery/types/generated/apiextensions.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { inTurns } from '../../../../machinery/work/in-turns.js';
import type { Work } from '../../../../machinery/work/work.js';
import { At, checkImmutable, each, requireEnum, tell } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';
import { approvalOf } from './approval.js';
import {
  atOnce,
  changedSchemas,
  checkTrust,
  specOf,
  specRules,
  type Definition,
  type DefinitionRule,
  type SpecRules,
} from './spec-rules.js';

/** Reports the problems of a label as one. */
function checkLabel(at: At, member: string, text: string, prefix = ''): void {
  const problems = dns1035Label(prefix === '' ? text : text.toLowerCase());
  if (problems.length > 0) at.invalid(member, text, prefix + problems.join(','));
}

const MIXED_CASE = 'may have mixed case, but should otherwise match: ';

function checkNames(at: At, names: CustomResourceDefinitionNames): void {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  if (plural === '') at.required('plural');
  if (kind === '') at.required('kind');
  if (plural !== '') checkLabel(at, 'plural', plural);
  if (singular !== '') checkLabel(at, 'singular', singular);
  if (kind !== '') checkLabel(at, 'kind', kind, MIXED_CASE);
  if (listKind !== '') checkLabel(at, 'listKind', listKind, MIXED_CASE);
  each(at, 'shortNames', names.shortNames, (name, nameAt) => checkLabel(nameAt, '', name));
  if (kind !== '' && kind === listKind) at.invalid('listKind', listKind, 'kind and listKind may not be the same');
  each(at, 'categories', names.categories, (name, nameAt) => checkLabel(nameAt, '', name));
}

function checkVersions(at: At, versions: NonNullable<CustomResourceDefinitionSpec['versions']>): void {
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

/** There may be objects that are stored in it: nothing else could tell what they are. */
const keepStoredVersions = atOnce(({ spec, status }, problems) => {
  const names = new Set(spec?.versions?.map(({ name }) => name));
  each(At.root(problems, 'status'), 'storedVersions', status?.storedVersions ?? undefined, (name, at) => {
    if (names.has(name)) return;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    at.invalid('', name, why);
  });
});

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

function* problemsOf(rule: DefinitionRule, definition: Definition): Work<Problems> {
  const found: Problems = [];
  yield* rule(definition, found);
  return found;
}

/** Of what is not right nothing further is asked. */
const whereRight = (structure: readonly DefinitionRule[], further: DefinitionRule): DefinitionRule =>
  function* (definition, problems) {
    for (const rule of structure) if ((yield* problemsOf(rule, definition)).length > 0) return;
    yield* further(definition, problems);
  };

function* checkNew(rules: SpecRules, definition: Definition, problems: Problems): Work<void> {
  let isRight = true;
  for (const rule of rules.structure) {
    const found = yield* problemsOf(rule, definition);
    if (found.length > 0) isRight = false;
    tell(problems, found);
  }
  const further = isRight ? [...rules.ofRight, ...rules.beside, rules.costs] : rules.beside;
  for (const rule of further) yield* rule(definition, problems);
}

/** A change: what both states break is not told. */
interface Change {
  readonly next: Definition;
  readonly old: Definition;
  readonly problems: Problems;
}

/**
 * Asks the stored state only when the next one breaks the rule.
 *
 * @param ofOld What is asked of it, if not the same. @returns Whether the next state keeps the rule.
 */
function* checkChange(rule: DefinitionRule, { next, old, problems }: Change, ofOld = rule): Work<boolean> {
  const found = yield* problemsOf(rule, next);
  if (found.length === 0) return true;
  if ((yield* problemsOf(ofOld, old)).length === 0) tell(problems, found);
  return false;
}

function* checkChanged(rules: SpecRules, change: Change): Work<void> {
  const { next, old, problems } = change;
  const isSame = jsonEqual(next.spec, old.spec);
  let isRight = !isSame;
  for (const rule of isSame ? [] : rules.structure) if (!(yield* checkChange(rule, change))) isRight = false;
  for (const rule of isRight ? rules.ofRight : []) yield* checkChange(rule, change, whereRight(rules.structure, rule));
  for (const rule of isSame ? [] : rules.beside) yield* checkChange(rule, change);
  for (const rule of isEstablished(old) ? [keepStoredVersions, checkTrust] : [keepStoredVersions]) {
    yield* checkChange(rule, change);
  }
  if (isRight) yield* rules.costs(changedSchemas(next, old), problems);
}

/** Rules for names, group, scope and schemas of a definition. Of large schemas they are asked in more than one turn. */
export function customResourceDefinitions(vocabulary: Vocabulary): KindValidation<CustomResourceDefinition> {
  const rules = specRules(vocabulary);
  return {
    object: checkDefinition,
    create: (definition, problems) =>
      inTurns(
        (function* () {
          yield* checkNew(rules, definition, problems);
          checkApproval(definition, undefined, problems, vocabulary);
        })(),
      ),
    update: (next, old, problems) =>
      inTurns(
        (function* () {
          checkUpdate(next, old, problems);
          yield* checkChanged(rules, { next, old, problems });
          checkApproval(next, old, problems, vocabulary);
        })(),
      ),
  };
}
