import type { ApiObject } from '../../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../../machinery/types/declarations.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { ResourceTable } from '../../registry/resources.js';
import { derived, type AdmissionObjects } from '../objects.js';
import { ByAsked, isConfiguration, type Asked } from '../webhooks/matching.js';
import { compileBinding, type CompiledBinding, type CompiledPolicy } from './compiled.js';
import { coveringOf, type Covering } from './constraints.js';

/** A policy that is about some requests of a sort, with the bindings that are. */
export interface Hook<P extends CompiledPolicy> {
  readonly policy: P;
  readonly covering: Covering;
  readonly bindings: readonly Bound[];
}

interface Bound {
  readonly binding: CompiledBinding;
  /** Absent: all that the policy is about. */
  readonly covering: Covering | undefined;
}

export interface HooksDeps {
  readonly vocabulary: Pick<Vocabulary, 'groups'>;
  readonly resources: Pick<ResourceTable, 'served'>;
  readonly objects: Pick<AdmissionObjects, 'derivedFromAll'>;
}

const REVIEWS = new Set([
  'selfsubjectreviews',
  'tokenreviews',
  'localsubjectaccessreviews',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
]);

/**
 * The policies of one kind that are in force, by what is asked: in the order of their names, with their bindings in theirs.
 * Each is compiled once for each of its states.
 *
 * @returns What asks the caches, at the price of two lookups.
 */
export function openHooks<P extends CompiledPolicy>(
  d: HooksDeps,
  kind: 'validating' | 'mutating',
  compile: (policy: ApiObject) => P,
): (asked: Asked) => readonly Hook<P>[] {
  const group = d.vocabulary.groups.admissionregistration;
  const policyOf = derived(compile);
  const bindingOf = derived(compileBinding);
  const policies = d.objects.derivedFromAll({ group, resource: `${kind}admissionpolicies` }, (all) =>
    all.map(policyOf),
  );
  const bindings = d.objects.derivedFromAll({ group, resource: `${kind}admissionpolicybindings` }, (all) =>
    all.map(bindingOf),
  );
  let made: { readonly of: readonly [object, object]; readonly hooks: Hooks<P> } | undefined;
  return (asked) => {
    const of = [policies(), bindings()] as const;
    if (of[1].length === 0 || of[0].length === 0) return [];
    if (made?.of[0] !== of[0] || made.of[1] !== of[1]) made = { of, hooks: new Hooks(d, ...of) };
    return made.hooks.of(asked);
  };
}

class Hooks<P extends CompiledPolicy> {
  readonly #d: HooksDeps;
  readonly #bound: readonly (readonly [P, readonly CompiledBinding[]])[];
  readonly #known = new ByAsked((asked) => this.#find(asked));

  constructor(d: HooksDeps, policies: readonly P[], bindings: readonly CompiledBinding[]) {
    this.#d = d;
    this.#bound = policies
      .map((policy) => [policy, bindings.filter(({ policyName }) => policyName === policy.name)] as const)
      .filter(([, of]) => of.length > 0);
  }

  of(asked: Asked): readonly Hook<P>[] {
    return this.#bound.length === 0 ? [] : this.#known.of(asked);
  }

  #find(asked: Asked): readonly Hook<P>[] {
    if (isConfiguration(this.#d, asked.resource) || this.#isReview(asked.resource)) return [];
    return this.#bound.flatMap(([policy, bindings]) => {
      const covering = coveringOf(this.#d, policy.constraints, asked);
      if (covering === undefined) return [];
      const covered = bindings.flatMap((binding): Bound[] => {
        if (binding.constraints === undefined) return [{ binding, covering: undefined }];
        const of = coveringOf(this.#d, binding.constraints, asked);
        return of === undefined ? [] : [{ binding, covering: of }];
      });
      return [{ policy, covering, bindings: covered }];
    });
  }

  /** Who is refused one could not even be told who he is. */
  #isReview({ group, resource }: ResourceDeclaration): boolean {
    const { authentication, authorization } = this.#d.vocabulary.groups;
    return (group === authentication || group === authorization) && REVIEWS.has(resource);
  }
}
