import type { AccessAnswer, AccessQuestion } from '../../../machinery/cel/libraries/authorizer.js';
import type { Attributes, Decision } from '../../authorization/authorizer.js';
import { textSelectors } from '../../authorization/selectors.js';
import type { UserInfo } from '../../request/request.js';
import type { AdmissionRequest } from '../plugin.js';

export type Decide = (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;

/** An evaluation needs an answer that is on its way: it has to begin anew when that is there. */
export class Waiting extends Error {
  override readonly name = 'Waiting';
  readonly answered: Promise<unknown>;

  constructor(answered: Promise<unknown>) {
    super('an answer is on its way');
    this.answered = answered;
  }
}

/** What expressions ask about rights, each question once for all expressions of a request. */
export class AccessAnswers {
  readonly #request: Pick<AdmissionRequest, 'user' | 'leaveTurn'>;
  readonly #decide: Decide;
  readonly #known = new Map<string, AccessAnswer>();

  constructor(request: Pick<AdmissionRequest, 'user' | 'leaveTurn'>, decide: Decide) {
    this.#request = request;
    this.#decide = decide;
  }

  /** @throws {Waiting} */
  readonly ask = (question: AccessQuestion): AccessAnswer => {
    const key = JSON.stringify(question);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const decision = this.#decide(userOf(this.#request.user, question), attributesOf(question));
    const keep = (it: Decision): AccessAnswer => {
      const answer = { allowed: it.decision === 'allow', reason: it.reason, error: it.error ?? '' };
      this.#known.set(key, answer);
      return answer;
    };
    if (decision instanceof Promise) {
      this.#request.leaveTurn();
      throw new Waiting(decision.then(keep));
    }
    return keep(decision);
  };
}

function userOf(user: UserInfo, { serviceAccount }: AccessQuestion): UserInfo {
  if (serviceAccount === undefined) return user;
  const { namespace, name } = serviceAccount;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { name: `system:serviceaccount:${namespace}:${name}`, uid: '', groups, extra: {} };
}

function attributesOf(question: AccessQuestion): Attributes {
  const { serviceAccount: _, path, verb, fieldSelector, labelSelector, ...about } = question;
  if (path !== undefined) return { kind: 'path', verb, path };
  return { kind: 'resource', verb, version: '*', ...about, selectors: textSelectors(fieldSelector, labelSelector) };
}
