import type { UserInfo } from '../../request/request.js';
import type { Attributes, Decision } from '../authorizer.js';

/** Decisions that are kept, of all users together. */
const MAX_DECISIONS = 20_000;
/** Questions are kept as text; longer ones are decided each time. */
const MAX_LENGTH = 512;

interface Decisions {
  readonly generation: number;
  readonly byQuestion: Map<string, Decision>;
}

/**
 * Decisions for users, for as long as nothing changes on which they depend. Users are told apart by identity: the
 * same object always has the same name and groups.
 */
export class DecisionMemo {
  #users = new WeakMap<UserInfo, Decisions>();
  #size = 0;

  /** @param generation What moves when any decision may have changed. */
  of(
    user: UserInfo,
    asked: Attributes,
    generation: number,
    decide: (user: UserInfo, asked: Attributes) => Decision,
  ): Decision {
    const question = questionText(asked);
    let known = this.#users.get(user);
    if (known?.generation === generation) {
      const decision = known.byQuestion.get(question);
      if (decision !== undefined) return decision;
    }
    const decision = decide(user, asked);
    if (question.length > MAX_LENGTH) return decision;
    if (this.#size >= MAX_DECISIONS) {
      this.#users = new WeakMap();
      this.#size = 0;
      known = undefined;
    }
    if (known?.generation !== generation) this.#users.set(user, (known = { generation, byQuestion: new Map() }));
    known.byQuestion.set(question, decision);
    this.#size++;
    return decision;
  }
}

/** With the lengths of its parts in front, so that no two questions have one text, whatever they hold. */
function questionText(asked: Attributes): string {
  if (asked.kind === 'path') return `${asked.verb.length}:${asked.verb}${asked.path}`;
  const { verb, group, resource, subresource, namespace, name } = asked;
  return `${verb.length} ${group.length} ${resource.length} ${subresource.length} ${namespace.length} ${verb}${group}${resource}${subresource}${namespace}${name}`;
}
