import { admissionRequest, admit } from '../../admission/request.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { badRequest, conflict, field, invalid, type FieldError } from '../../../machinery/meta/status.js';
import { formatTime } from '../../../machinery/meta/time.js';
import { claimsOf, type TokenContent } from '../../authentication/service-accounts/claims.js';
import { addWarnings } from '../../http/warnings.js';
import type { Context, ResourceRequest } from '../../request/request.js';
import { type Operation, unknownPath, type OperationVerbs } from '../../verbs/dispatch.js';
import { dryRunParameter } from '../../verbs/parameters.js';
import { answerKind, wholeForm } from '../answers.js';
import { readKind, type Kind } from '../bodies.js';
import { objectOf, type PodParts } from '../connect/objects.js';
import type { OperationDeps } from '../operation.js';
import type { TokenIssuer } from './issuer.js';

interface BoundObjectReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
  readonly boundObjectRef?: BoundObjectReference | null;
}

const USUAL_SECONDS = 3_600;
const LEAST_SECONDS = 600;
const MOST_SECONDS = 2 ** 32;
/** The lifetime that agents of nodes ask for in the name of pods, in seconds: an hour, and a few that mark it. */
const EXTENDED_FROM_SECONDS = 3_607;
const EXTENDED_SECONDS = 365 * 24 * 3_600;

/** `serviceaccounts/<name>/token`: a token of the account. */
export const accountToken = (d: OperationDeps): OperationVerbs => ({ create: issue(d) });

const issue =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const { tokens } = d;
    if (tokens === undefined) throw unknownPath(); // this server has no key to sign with
    wholeForm(ctx); // refuse before anything is read
    const kind: Kind = { group: d.vocabulary.groups.authentication, version: 'v1', kind: 'TokenRequest' };
    const dryRun = dryRunParameter(ctx.state.query);
    const body = await readKind(d, ctx, [kind]);
    const account = await objectOf(d, 'serviceaccounts', request.namespace, request.name);
    const asked = completed(body, request, kind, tokens);
    checkSpec(kind, asked.spec);
    const admitted = { operation: 'CREATE', object: asked.object, dryRun } as const;
    await admit(d.admission, admissionRequest(ctx, request, admitted));
    const content = await contentOf(d, ctx, tokens, account, asked.spec);
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = claimsOf(content, tokens.issuer, d.vocabulary.tokenClaim, nowSeconds);
    const expirationSeconds = Math.min(asked.spec.expirationSeconds, content.seconds);
    const status = {
      token: dryRun ? '' : await tokens.signer.sign(claims), // one that is good for something would be an effect
      expirationTimestamp: formatTime((nowSeconds + expirationSeconds) * 1000),
    };
    const metadata = { ...asked.object.metadata, creationTimestamp: formatTime(nowSeconds * 1000) };
    const spec = { ...asked.spec, expirationSeconds };
    await answerKind(d, ctx, kind, { ...asked.object, metadata, spec, status }, 201);
  };

interface Asked {
  readonly object: ApiObject;
  readonly spec: {
    readonly audiences: readonly string[];
    readonly expirationSeconds: number;
    readonly boundObjectRef: BoundObjectReference | null;
  };
}

/** Fills in what the request leaves open. @throws {StatusError} Invalid when it names another account than its path */
function completed(body: ApiObject, { namespace, name }: ResourceRequest, kind: Kind, tokens: TokenIssuer): Asked {
  const { metadata } = body;
  const errors: FieldError[] = [];
  if ((metadata.name ?? name) !== name) {
    errors.push(field.invalid('metadata.name', metadata.name, 'must match the service account name if specified'));
  }
  if ((metadata.namespace ?? namespace) !== namespace) {
    const why = 'must match the service account namespace if specified';
    errors.push(field.invalid('metadata.namespace', metadata.namespace, why));
  }
  if (errors.length > 0) throw invalid(kind, name, errors);
  const given = (body['spec'] ?? {}) as TokenSpec;
  const audiences = given.audiences ?? [];
  const spec = {
    audiences: audiences.length === 0 ? tokens.audiences : audiences,
    expirationSeconds: given.expirationSeconds ?? USUAL_SECONDS,
    boundObjectRef: given.boundObjectRef ?? null,
  };
  return { object: { ...body, metadata: { ...metadata, name, namespace }, spec, status: {} }, spec };
}

/** @throws {StatusError} Invalid */
function checkSpec(kind: Kind, { expirationSeconds }: Asked['spec']): void {
  const path = 'spec.expirationSeconds';
  if (expirationSeconds < LEAST_SECONDS) {
    throw invalid(kind, '', [
      field.invalid(path, expirationSeconds, 'may not specify a duration less than 10 minutes'),
    ]);
  }
  if (expirationSeconds > MOST_SECONDS) {
    const why = 'may not specify a duration larger than 2^32 seconds';
    throw invalid(kind, '', [field.invalid(path, expirationSeconds, why)]);
  }
}

async function contentOf(
  d: OperationDeps,
  ctx: Context,
  { maxSeconds, extends: extended, audiences: own }: TokenIssuer,
  { metadata: { name = '', namespace = '', uid = '' } }: ApiObject,
  { audiences, expirationSeconds, boundObjectRef }: Asked['spec'],
): Promise<TokenContent> {
  const boundTo = boundObjectRef === null ? undefined : await bound(d, namespace, name, boundObjectRef);
  const content = { namespace, account: { name, uid }, boundTo, audiences };
  if (maxSeconds > 0 && expirationSeconds > maxSeconds) {
    addWarnings(ctx, [`requested expiration of ${expirationSeconds} seconds shortened to ${maxSeconds} seconds`]);
    return { ...content, seconds: maxSeconds, warnAfterSeconds: 0 };
  }
  const isForUs = audiences.every((audience) => own.includes(audience));
  if (extended && boundTo?.kind === 'pod' && expirationSeconds === EXTENDED_FROM_SECONDS && isForUs) {
    return { ...content, seconds: EXTENDED_SECONDS, warnAfterSeconds: expirationSeconds };
  }
  return { ...content, seconds: expirationSeconds, warnAfterSeconds: 0 };
}

const BINDABLE = { Pod: ['pod', 'pods'], Secret: ['secret', 'secrets'] } as const;

/** @throws {StatusError} BadRequest, NotFound; Conflict when the object is another one of the same name */
async function bound(
  d: OperationDeps,
  namespace: string,
  account: string,
  { kind = '', apiVersion = '', name = '', uid = '' }: BoundObjectReference,
): Promise<TokenContent['boundTo']> {
  const found = Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind as keyof typeof BINDABLE] : undefined;
  if (found === undefined || apiVersion.includes('/')) {
    throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  }
  const [member, resource] = found;
  const object = await objectOf<PodParts>(d, resource, namespace, name);
  if (member === 'pod' && (object.spec?.serviceAccountName ?? '') !== account) {
    throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`); // prettier-ignore
  }
  const present = object.metadata.uid ?? '';
  if (uid !== '' && uid !== present) {
    throw conflict({ group: '', resource: kind }, name, `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`); // prettier-ignore
  }
  return { kind: member, object: { name, uid: present } };
}
