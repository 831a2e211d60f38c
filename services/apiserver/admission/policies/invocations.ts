import { StatusError } from '../../../machinery/meta/status.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { AdmissionObjects } from '../objects.js';
import type { AdmissionRequest } from '../plugin.js';
import { isNamespace, isSelected } from '../webhooks/selecting.js';
import type { CompiledBinding, CompiledPolicy } from './compiled.js';
import { formFor, type Covering } from './constraints.js';
import type { Hook } from './hooks.js';
import { ConfigurationError, type Param, type Params } from './params.js';

/** A policy that is asked about a request, once for each of its parameters. */
export interface Invocation<P extends CompiledPolicy> {
  readonly policy: P;
  readonly binding: CompiledBinding;
  /** The form in which the policy knows the object. */
  readonly as: ResourceDeclaration;
  readonly params: readonly Param[];
}

/** A policy that cannot be asked. */
export interface Misconfigured<P extends CompiledPolicy> {
  readonly policy: P;
  /** Undefined where the policy itself is at fault. */
  readonly binding: CompiledBinding | undefined;
  readonly error: string;
}

export interface InvocationsDeps {
  readonly objects: Pick<AdmissionObjects, 'present'>;
  readonly params: Pick<Params, 'source' | 'collect'>;
}

/** What hooks come to for one request. Those that are not about it are left out. */
export async function invocationsOf<P extends CompiledPolicy>(
  d: InvocationsDeps,
  hooks: readonly Hook<P>[],
  request: AdmissionRequest,
): Promise<readonly (Invocation<P> | Misconfigured<P>)[]> {
  const found: (Invocation<P> | Misconfigured<P>)[] = [];
  for (const { policy, covering, bindings } of hooks) {
    const as = await orMisconfigured(async () => {
      const form = await covers(d, covering, request);
      if (form !== undefined && policy.paramKind !== undefined) d.params.source(policy.paramKind);
      return form;
    });
    if (as === undefined) continue;
    if ('error' in as) found.push({ policy, binding: undefined, error: `failed to configure policy: ${as.error}` });
    else for (const bound of bindings) found.push(...(await invoked(d, policy, bound, as, request)));
  }
  return found;
}

async function invoked<P extends CompiledPolicy>(
  d: InvocationsDeps,
  policy: P,
  { binding, covering }: Hook<P>['bindings'][number],
  as: ResourceDeclaration,
  request: AdmissionRequest,
): Promise<readonly (Invocation<P> | Misconfigured<P>)[]> {
  const params = await orMisconfigured(async () => {
    if (covering !== undefined && (await covers(d, covering, request)) === undefined) return [];
    const namespace = isNamespace(request) ? request.name : request.namespace;
    return d.params.collect(policy.paramKind, binding.paramRef, { namespace, signal: request.signal });
  });
  if ('error' in params) return [{ policy, binding, error: `failed to configure binding: ${params.error}` }];
  return params.length === 0 ? [] : [{ policy, binding, as, params }];
}

async function covers(
  d: InvocationsDeps,
  covering: Covering,
  request: AdmissionRequest,
): Promise<ResourceDeclaration | undefined> {
  const as = formFor(covering, request.name);
  return as !== undefined && (await isSelected(d.objects, covering, request)) ? as : undefined;
}

async function orMisconfigured<T>(find: () => Promise<T>): Promise<T | { readonly error: string }> {
  try {
    return await find();
  } catch (err) {
    if (err instanceof ConfigurationError || err instanceof StatusError) return { error: err.message };
    throw err;
  }
}
