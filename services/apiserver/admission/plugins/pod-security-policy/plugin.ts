import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../../../machinery/types/generated/policy.v1beta1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { Attributes, Decision } from '../../../authorization/authorizer.js';
import type { UserInfo } from '../../../request/request.js';
import { derived, type AdmissionObjects } from '../../objects.js';
import { specOf } from '../../pods/pod.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { assign } from './assign.js';
import { problemsOf } from './checks.js';
import { assignProfiles, profileProblems, type ProfileWords } from './profiles.js';

export interface PodSecurityPolicyDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'derivedFromAll'>;
  readonly decide: (user: UserInfo, attributes: Attributes) => Promise<Decision> | Decision;
}

const POLICIES = { group: 'policy', resource: 'podsecuritypolicies' };
const PARTS: ReadonlySet<string> = new Set(['', 'ephemeralcontainers']);

interface Policy {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSecurityPolicySpec;
}

interface Shared extends PodSecurityPolicyDeps {
  readonly words: ProfileWords;
  /** In the order of their names. */
  readonly policies: () => readonly Policy[];
  readonly annotation: string;
}

/** A pod is let in by a policy that its creator or its service account may use; what the policy wants is given to it. */
export function podSecurityPolicy(d: PodSecurityPolicyDeps): AdmissionPlugin {
  const read = derived((object): Policy => {
    const { metadata = {}, spec = {} } = object as PodSecurityPolicy;
    return { name: metadata.name ?? '', annotations: metadata.annotations ?? {}, spec };
  });
  const shared: Shared = {
    ...d,
    words: d.vocabulary.profiles,
    policies: d.objects.derivedFromAll(POLICIES, (all) => all.map(read)),
    annotation: d.vocabulary.annotations.podSecurityPolicy,
  };
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['pods'],
    mutate: async (request) => {
      const { object, operation, subresource } = request;
      if (object === undefined || !isConcerned(request) || operation !== 'CREATE' || subresource !== '') return;
      const { policy, pod } = await chosen(shared, request, object, true);
      object['spec'] = pod['spec'];
      object.metadata.annotations = { ...pod.metadata.annotations, [shared.annotation]: policy.name };
    },
    validate: async (request) => {
      const { object } = request;
      if (object === undefined || !isConcerned(request)) return;
      await chosen(shared, request, object, false);
    },
  };
}

/** A change of nothing that runs is not looked at. */
function isConcerned({ operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (!PARTS.has(subresource)) return false;
  return operation === 'CREATE' || !isDeepStrictEqual(object?.['spec'], oldObject?.['spec']);
}

interface Choice {
  readonly policy: Policy;
  /** With what the policy wants of it. */
  readonly pod: ApiObject;
}

/**
 * The first policy that allows the pod as it is; else the first that allows it with what it wants of it.
 *
 * @throws {StatusError} Forbidden, when there is none
 */
async function chosen(s: Shared, request: AdmissionRequest, object: ApiObject, mayChange: boolean): Promise<Choice> {
  const all = s.policies();
  if (all.length === 0) throw refused(request, 'PodSecurityPolicy: no providers available to validate pod request');
  const problems: string[] = [];
  let changed: Choice | undefined;
  for (const policy of hinted(all, mayChange ? undefined : object.metadata.annotations?.[s.annotation])) {
    const pod = mayChange ? structuredClone(object) : object;
    if (mayChange) adapt(pod, policy, s.words);
    const found = [...profileProblems(pod, policy.annotations, s.words), ...problemsOf(specOf(pod), policy.spec)];
    const isSame = !mayChange || isDeepStrictEqual(pod, object);
    if (found.length === 0 && !isSame && changed !== undefined) continue;
    if (!(await mayUse(s, request, object, policy))) continue;
    if (found.length > 0) problems.push(...found);
    else if (isSame) return { policy, pod };
    else changed = { policy, pod };
  }
  if (changed !== undefined) return changed;
  throw refused(request, `PodSecurityPolicy: unable to admit pod: [${problems.join(' ')}]`);
}

function adapt(pod: ApiObject, { annotations, spec }: Policy, words: ProfileWords): void {
  assign(pod, spec);
  assignProfiles(pod, annotations, words);
}

/** The policy by which a pod was let in is asked first. */
const hinted = (all: readonly Policy[], name: string | undefined): readonly Policy[] =>
  name === undefined ? all : [...all.filter((one) => one.name === name), ...all.filter((one) => one.name !== name)];

/** Whether the user may use a policy, or the service account of the pod. */
async function mayUse(s: Shared, request: AdmissionRequest, pod: ApiObject, { name }: Policy): Promise<boolean> {
  const { namespace, user } = request;
  const attributes: Attributes = {
    kind: 'resource',
    verb: 'use',
    version: '*',
    subresource: '',
    namespace,
    name,
    ...POLICIES,
  };
  const may = async (who: UserInfo): Promise<boolean> => (await s.decide(who, attributes)).decision === 'allow';
  const account = specOf(pod).serviceAccountName ?? '';
  return (await may(user)) || (account !== '' && (await may(accountUser(namespace, account))));
}

const accountUser = (namespace: string, account: string): UserInfo => ({
  name: `system:serviceaccount:${namespace}:${account}`,
  uid: '',
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  extra: {},
});
