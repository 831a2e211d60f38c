import { ANYTHING, Composition, ExpressionError } from '../../../machinery/cel/policies/composition.js';
import { celTypeOf } from '../../../machinery/cel/policies/declared-types.js';
import type { CelType } from '../../../machinery/cel/types.js';
import { parseApiVersion } from '../../../machinery/meta/gvk.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type {
  ExpressionWarning,
  NamedRuleWithOperations,
  ParamKind,
  ValidatingAdmissionPolicySpec,
} from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { CatalogVersion } from '../../registry/live-catalog.js';

/** Most types that the expressions of a policy are held against. */
const MOST_TYPES = 10;

/** What does not fit the types that a policy is about: those that its rules name, as far as they are served. */
export function typeWarnings(
  spec: ValidatingAdmissionPolicySpec,
  version: CatalogVersion,
): readonly ExpressionWarning[] {
  const kinds = kindsOf(spec.matchConstraints?.resourceRules ?? [], version);
  const params = spec.paramKind && typeOfKind(spec.paramKind, version);
  const check = (source: string): string =>
    kinds
      .map((kind) => ({ kind, why: problemOf(spec, source, { object: typeOf(kind, version), params }) }))
      .filter(({ why }) => why !== '')
      .map(({ kind, why }) => `${shown(kind)}: ${why}\n`)
      .join('\n');
  return (spec.validations ?? []).flatMap(({ expression = '', messageExpression = '' }, i) =>
    Object.entries({ expression, messageExpression })
      .map(([member, source]) => ({
        fieldRef: `spec.validations[${i}].${member}`,
        warning: source === '' ? '' : check(source),
      }))
      .filter(({ warning }) => warning !== ''),
  );
}

/** '' for an expression that fits. */
function problemOf(
  spec: ValidatingAdmissionPolicySpec,
  source: string,
  { object, params }: { readonly object: CelType | undefined; readonly params: CelType | undefined },
): string {
  const types = { ...(object && { object }), ...(params && { params }) };
  const composition = new Composition({ hasParams: spec.paramKind !== undefined, hasAuthorizer: true, ...types });
  for (const { name = '', expression = '' } of spec.variables ?? []) {
    orWhy(() => composition.variable(name, expression)); // one that does not fit is anything
  }
  return orWhy(() => composition.expression(source, ANYTHING));
}

function orWhy(compile: () => unknown): string {
  try {
    compile();
    return '';
  } catch (err) {
    if (!(err instanceof ExpressionError)) throw err;
    return err.cause instanceof Error ? err.cause.message : err.message;
  }
}

const isPlain = (text: string): boolean => !text.includes('*');

/** In the order of their groups, versions and kinds. What rules say with wildcards is nothing in particular. */
function kindsOf(rules: readonly NamedRuleWithOperations[], { api }: CatalogVersion): readonly ResourceDeclaration[] {
  const found = new Set<ResourceDeclaration>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if (!apiGroups.every(isPlain) || !apiVersions.every(isPlain)) continue;
    const plain = resources.filter((it) => isPlain(it) && !it.includes('/'));
    for (const group of apiGroups) {
      for (const version of apiVersions) {
        for (const resource of plain) {
          const declaration = api.find(group, version, resource);
          if (declaration !== undefined && found.size < MOST_TYPES) found.add(declaration);
        }
      }
    }
  }
  const key = ({ group, version, kind }: ResourceDeclaration): string => `${group} ${version} ${kind}`;
  return [...found].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function typeOf({ type }: ResourceDeclaration, { catalog }: CatalogVersion): CelType | undefined {
  const found = catalog.types.get(type);
  return found && celTypeOf(found);
}

function typeOfKind({ apiVersion = '', kind }: ParamKind, version: CatalogVersion): CelType | undefined {
  const { group, version: named } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  const served = version.api.groups.find(({ name }) => name === group)?.versions.find((it) => it.version === named);
  const declaration = served?.resources.find((it) => it.kind === kind);
  return declaration && typeOf(declaration, version);
}

const shown = ({ group, version, kind }: ResourceDeclaration): string => `${group}/${version}, Kind=${kind}`;
