import { field, StatusError, type FieldError } from '../../machinery/meta/status.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import { apiVersionOf } from '../../machinery/meta/object.js';
import { embeddedProblems } from '../../machinery/structural/embedded.js';
import { fillDefaults } from '../../machinery/structural/fill-defaults.js';
import { duplicateItems } from '../../machinery/structural/list-keys.js';
import { askRules, hasRules } from '../../machinery/structural/rules.js';
import type { Structural } from '../../machinery/structural/structural.js';
import { validate } from '../../machinery/structural/validate.js';
import { inTurns } from '../../machinery/work/in-turns.js';
import type { ResourceDeclaration, ScalePaths } from '../../machinery/types/declarations.js';
import { genericStrategy, type Strategy } from '../registry/strategy.js';
import type { Problems } from '../registry/validation/types.js';
import { valueAt } from '../registry/parts.js';

export interface CustomDeps {
  /** Of the version, e.g. `example.com/v1`. */
  readonly schema: (apiVersion: string) => Structural;
  /** The same of a version: where its objects say how many there should be, and are. */
  readonly scale: (apiVersion: string) => ScalePaths | undefined;
  readonly isTerminating: () => boolean;
}

/** The rules of a custom kind: those of its schema, in the version in which it is written. */
export function customStrategy(hub: ResourceDeclaration, { schema, scale, isTerminating }: CustomDeps): Strategy {
  const generic = genericStrategy(hub);
  const stored = apiVersionOf(hub);
  const check = (
    object: ApiObject,
    before: ApiObject | undefined,
    problems: Problems,
    apiVersion = stored,
  ): void | Promise<void> => {
    const known = schema(apiVersion);
    const found = [
      ...validate(object, known, before),
      ...duplicateItems(object, known, before),
      ...embeddedProblems(object, known, before),
    ];
    problems.push(...found);
    checkReplicas(scale(apiVersion), object, problems);
    if (!hasRules(known)) return;
    if (problems.some(({ reason }) => UNFIT.has(reason))) problems.push(NOT_ASKED);
    else return told(inTurns(askRules(object, known, before)), problems);
  };
  return {
    ...generic,
    replicas: hub.scale?.wanted ?? generic.replicas,
    prepareForCreate: (object, requester, apiVersion) => {
      if (isTerminating()) throw terminating();
      generic.prepareForCreate?.(object, requester, apiVersion);
      // The status that was sent is gone, and with it what it has by default: the next write would bring that back.
      const known = schema(apiVersion);
      if (known.properties.get('status')?.hasDefaults === true) fillDefaults(object, known);
    },
    warnings: looseFinalizers,
    validation: {
      create: (object, problems, apiVersion) => check(object, undefined, problems, apiVersion),
      update: (next, old, problems, apiVersion) => check(next, old, problems, apiVersion),
      parts: {
        status: (next, old, problems, apiVersion) => check(next, old, problems, apiVersion),
        scale: (next, old, problems, apiVersion) => check(next, old, problems, apiVersion),
      },
    },
  };
}

function told(broken: FieldError[] | Promise<FieldError[]>, problems: Problems): void | Promise<void> {
  if (Array.isArray(broken)) problems.push(...broken);
  else return broken.then((found) => void problems.push(...found));
}

/** Of values with such problems rules cannot be asked. */
const UNFIT: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_ASKED = field.invalid(
  '<nil>',
  'null',
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** New finalizers of which it is not clear whose they are. */
function looseFinalizers({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers);
  const loose = (metadata.finalizers ?? []).filter(
    (name) => !before.has(name) && !name.includes('/') && !STANDARD_FINALIZERS.has(name),
  );
  return loose.map((name) => {
    const how = name.includes('.') ? ' including a path (/)' : '';
    return `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`;
  });
}

const terminating = (): StatusError =>
  new StatusError('MethodNotAllowed', 'create not allowed while custom resource definition is terminating', {
    details: {},
  });

/** What is scaled has a number of replicas, or none yet. */
function checkReplicas(scale: ScalePaths | undefined, object: ApiObject, problems: Problems): void {
  if (scale === undefined) return;
  for (const path of [scale.wanted, scale.present]) {
    const replicas = valueAt(object, path);
    if (typeof replicas !== 'number') continue;
    const at = `.${path.join('.')}`;
    if (replicas < 0) problems.push(field.invalid(at.slice(1), replicas, 'should be a non-negative integer'));
    else if (replicas > 2 ** 31 - 1) {
      problems.push(field.invalid(at.slice(1), replicas, 'should be less than or equal to 2147483647'));
    }
  }
}
