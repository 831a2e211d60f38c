import { AN_OBJECT, OPERATIONS } from '../../../machinery/cel/policies/composition.js';
import { appliedObject, patchOperations } from '../../../machinery/cel/policies/patch-values.js';
import type { Value } from '../../../machinery/cel/values.js';
import type { ApiObject, Json } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import { layOver, NotLaidOver } from '../../../machinery/ownership/apply-over.js';
import { structShape } from '../../../machinery/ownership/shape.js';
import { applyJsonPatch, TestFailed } from '../../../machinery/patch/json-patch.js';
import type { MutatingAdmissionPolicySpec } from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { Type } from '../../../machinery/types/graph.js';
import { done } from '../../../machinery/work/work.js';
import { reasonOf } from '../webhooks/patching.js';
import { compileCommon, type CompiledPolicy } from './compiled.js';
import type { Compiled } from './evaluation.js';

/** Gives the next state of an object. @param value What the expression gives. @throws {Error} In words for clients */
type Change = (before: Json, value: Value, type: Type) => Json;

interface CompiledMutation {
  readonly compiled: Compiled;
  readonly change: Change;
}

export interface MutatingPolicy extends CompiledPolicy {
  readonly mutations: readonly CompiledMutation[];
  /** Whether it wants to see an object again that others have changed since. */
  readonly isReinvoked: boolean;
}

export function compileMutating(policy: ApiObject): MutatingPolicy {
  const spec = (policy['spec'] ?? {}) as MutatingAdmissionPolicySpec;
  const { compile, ...common } = compileCommon(policy, spec);
  return {
    ...common,
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) =>
      patchType === 'JSONPatch'
        ? { compiled: compile((jsonPatch?.expression ?? '').trim(), OPERATIONS), change: patched }
        : { compiled: compile((applyConfiguration?.expression ?? '').trim(), AN_OBJECT), change: laidOver },
    ),
    isReinvoked: spec.reinvocationPolicy === 'IfNeeded',
  };
}

/** What an object is called stays as it is. */
const laidOver: Change = (before, value, type) => {
  const { apiVersion, kind } = before as unknown as ApiObject;
  try {
    const config = { ...(appliedObject(value) as object), apiVersion, kind };
    return layOver(structShape(type), before, config) as Json; // made of two JSON values
  } catch (err) {
    throw err instanceof NotLaidOver ? new Error(`error applying patch: ${err.message}`, { cause: err }) : err;
  }
};

/** A patch whose tests fail is not made, and no failure. */
const patched: Change = (before, value) => {
  const operations = patchOperations(value);
  try {
    return done(applyJsonPatch(before, operations));
  } catch (err) {
    if (!(err instanceof StatusError)) throw err;
    if (err.cause instanceof TestFailed) return before;
    throw new Error(`JSON Patch: ${reasonOf(err)}`, { cause: err });
  }
};
