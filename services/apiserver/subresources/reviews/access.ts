import { setOwn } from '../../../machinery/meta/own.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { field, type FieldError } from '../../../machinery/meta/status.js';
import { decide } from '../../authorization/stage.js';
import type { Attributes, Decision } from '../../authorization/authorizer.js';
import type { Asker } from '../../http/turns.js';
import type { ResourceRequest, UserInfo } from '../../request/request.js';
import type { OperationDeps } from '../operation.js';
import type { OperationVerbs } from '../../verbs/dispatch.js';
import { checkMetadata, review } from './review.js';
import { checkSelectors, readSelectors, type GivenSelectors } from './selectors.js';

interface AccessSpec {
  readonly resourceAttributes?: (Readonly<Partial<Record<keyof typeof NO_RESOURCE, string>>> & GivenSelectors) | null;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string } | null;
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[] | null;
  /** `groups` in v1beta1. */
  readonly group?: readonly string[] | null;
  readonly extra?: Readonly<Record<string, readonly string[]>> | null;
}

const NO_RESOURCE = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' };

/** May the one who asks do this? */
export const selfSubjectAccessReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: (object, request) => [...checkMetadata(object, request), ...checkAttributes(specOf(object))],
    answer: (object, { state }) => answerFor(d, state.user, specOf(object), state),
  });

/** SubjectAccessReview: may a user do this? */
export const subjectAccessReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: (object, request) => [
      ...checkMetadata(object, request),
      ...checkAttributes(specOf(object)),
      ...checkUser(specOf(object)),
    ],
    answer: (object, { state }) => answerFor(d, userOf(specOf(object)), specOf(object), state),
  });

/** Local access reviews: about one namespace, so that the right to ask there tells nothing of other places. */
export const localSubjectAccessReviews = (d: OperationDeps): OperationVerbs =>
  review(d, {
    check: (object, request) => {
      const spec = specOf(object);
      return [
        ...checkMetadata(object, request),
        ...checkAttributes(spec),
        ...checkUser(spec),
        ...checkPlace(spec, request),
      ];
    },
    answer: (object, { state }) => answerFor(d, userOf(specOf(object)), specOf(object), state),
  });

async function answerFor(d: OperationDeps, user: UserInfo, spec: AccessSpec, asker: Asker): Promise<object> {
  const { attributes, ignored } = asked(spec);
  return shown(await decide(d.authorizers, user, attributes, asker), ignored);
}

const specOf = (object: ApiObject): AccessSpec => object['spec'] ?? {}; // decoded by its declaration

function checkAttributes({ resourceAttributes, nonResourceAttributes }: AccessSpec): FieldError[] {
  const resource = resourceAttributes ?? undefined;
  const path = nonResourceAttributes ?? undefined;
  if (resource !== undefined && path !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [field.invalid('spec.nonResourceAttributes', path, why)];
  }
  if (resource !== undefined) return checkSelectors(resource);
  if (path !== undefined) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [field.invalid('spec.resourceAttributes', null, why)];
}

function checkUser(spec: AccessSpec): FieldError[] {
  if ((spec.user ?? '') !== '' || groupsOf(spec).length > 0) return [];
  return [field.invalid('spec.user', '', 'at least one of user or group must be specified')];
}

function checkPlace(spec: AccessSpec, { namespace }: ResourceRequest): FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const errors: FieldError[] = [];
  const place = resource?.namespace ?? '';
  if (resource != null && place !== namespace) {
    errors.push(field.invalid('spec.resourceAttributes.namespace', place, 'must match metadata.namespace'));
  }
  if (path != null) {
    errors.push(field.invalid('spec.nonResourceAttributes', path, 'disallowed on this kind of request'));
  }
  return errors;
}

interface Asked {
  readonly attributes: Attributes;
  /** Parts of the question that could not be read, and are left out of it. */
  readonly ignored: readonly string[];
}

function asked({ resourceAttributes, nonResourceAttributes }: AccessSpec): Asked {
  const { path = '', verb = '' } = nonResourceAttributes ?? {};
  if (resourceAttributes == null) return { attributes: { kind: 'path', path, verb }, ignored: [] };
  const { fieldSelector: _f, labelSelector: _l, ...named } = resourceAttributes;
  const { selectors, ignored } = readSelectors(resourceAttributes);
  return { attributes: { ...NO_RESOURCE, ...named, kind: 'resource', selectors }, ignored };
}

const groupsOf = ({ groups, group }: AccessSpec): readonly string[] => groups ?? group ?? [];

/** The user exactly as the review names it: the asker names all groups of the user. */
function userOf(spec: AccessSpec): UserInfo {
  const extra = {};
  for (const [key, values] of Object.entries(spec.extra ?? {})) setOwn(extra, key.toLowerCase(), values);
  return { name: spec.user ?? '', uid: spec.uid ?? '', groups: groupsOf(spec), extra };
}

function shown({ decision, reason, error }: Decision, ignored: readonly string[]): object {
  const errors = [...(error === undefined ? [] : [error]), ...ignored];
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  };
}
