import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At, shownList } from '../checks/at.js';
import type { LabelSelector } from '../checks/labels.js';
import { checkLabelSelector } from '../checks/labels.js';
import type { List } from '../checks/members.js';
import { checkEnum, checkRule as checkTextRule, each } from '../checks/members.js';
import type { WebhookClient } from '../checks/webhooks.js';
import { checkWebhookClient } from '../checks/webhooks.js';
import type { KindValidation, Problems } from '../types.js';
import type { Rule } from './rules.js';
import { checkRule } from './rules.js';

interface Webhook {
  readonly name?: string;
  readonly clientConfig?: WebhookClient;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  /** Always written. */
  readonly sideEffects?: string | null;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: List<string>;
  readonly reinvocationPolicy?: string;
}

const webhooksOf = (configuration: ApiObject): readonly Webhook[] => (configuration['webhooks'] as List<Webhook>) ?? [];

/** What is asked of new webhooks, and of those that already did what is asked. */
interface Strictness {
  readonly noSideEffects: boolean;
  readonly knownVersions: boolean;
  readonly uniqueNames: boolean;
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const VERSIONS = ['v1', 'v1beta1'];

const hasKnownVersion = ({ admissionReviewVersions: versions }: Webhook): boolean =>
  (versions ?? []).some((version) => VERSIONS.includes(version));

function strictnessFor(old: readonly Webhook[]): Strictness {
  return {
    noSideEffects: old.every(({ sideEffects }) => NO_SIDE_EFFECTS.includes(sideEffects ?? '')),
    knownVersions: old.every(
      (webhook) => hasKnownVersion(webhook) || (webhook.admissionReviewVersions ?? []).length === 0,
    ),
    uniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
  };
}

/** At least three names in a row: whose the webhook is, and which. */
function checkName(at: At, name: string): void {
  if (name === '') {
    at.required('name');
    return;
  }
  const problems = dns1123Subdomain(name);
  if (problems.length > 0) at.invalid('name', name, problems.join(','));
  else if (name.split('.').length < 3) {
    at.invalid('name', name, 'should be a domain with at least three segments separated by dots');
  }
}

function checkSideEffects(at: At, sideEffects: string | null | undefined, allowed: readonly string[]): void {
  if (sideEffects === null || sideEffects === undefined) {
    at.required('sideEffects', `must specify one of ${allowed.join(', ')}`);
  } else if (!allowed.includes(sideEffects)) {
    at.notSupported('sideEffects', sideEffects, allowed);
  }
}

function checkVersions(at: At, webhook: Webhook, mustBeKnown: boolean): void {
  const versions = webhook.admissionReviewVersions ?? [];
  if (versions.length === 0) {
    at.required('admissionReviewVersions', `must specify one of ${VERSIONS.join(', ')}`);
    return;
  }
  const seen = new Set<string>();
  each(at, 'admissionReviewVersions', versions, (version, versionAt) => {
    if (seen.has(version)) versionAt.invalid('', version, 'duplicate version');
    else checkTextRule(versionAt, '', version, dns1035Label);
    seen.add(version);
  });
  if (mustBeKnown && !hasKnownVersion(webhook)) {
    const why = `must include at least one of ${VERSIONS.join(', ')}`;
    at.invalidShown('admissionReviewVersions', shownList(versions), why);
  }
}

const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 30;

function checkWebhook(webhook: Webhook, at: At, strict: Strictness): void {
  const { timeoutSeconds: seconds = LONGEST_SECONDS } = webhook;
  checkName(at, webhook.name ?? '');
  each(at, 'rules', webhook.rules, checkRule);
  checkEnum(at, 'failurePolicy', webhook.failurePolicy, ['Fail', 'Ignore']);
  checkEnum(at, 'matchPolicy', webhook.matchPolicy, ['Equivalent', 'Exact']);
  checkSideEffects(at, webhook.sideEffects, strict.noSideEffects ? NO_SIDE_EFFECTS : SIDE_EFFECTS);
  if (seconds < SHORTEST_SECONDS || seconds > LONGEST_SECONDS) {
    const why = `the timeout value must be between ${SHORTEST_SECONDS} and ${LONGEST_SECONDS} seconds`;
    at.invalid('timeoutSeconds', seconds, why);
  }
  checkLabelSelector(at, 'namespaceSelector', webhook.namespaceSelector);
  checkLabelSelector(at, 'objectSelector', webhook.objectSelector);
  checkEnum(at, 'reinvocationPolicy', webhook.reinvocationPolicy, ['IfNeeded', 'Never']);
  checkWebhookClient(at.child('clientConfig'), webhook.clientConfig ?? {});
  checkVersions(at, webhook, strict.knownVersions);
}

function checkAll(configuration: ApiObject, problems: Problems, strict: Strictness): void {
  const names = new Set<string>();
  each(At.root(problems), 'webhooks', webhooksOf(configuration), (webhook, at) => {
    checkWebhook(webhook, at, strict);
    const { name = '' } = webhook;
    if (name === '') return;
    if (strict.uniqueNames && names.has(name)) at.duplicate('name', name);
    names.add(name);
  });
}

/** Both kinds: that one of them may be asked again is a matter of its type. */
export const webhookConfigurations: KindValidation = {
  create: (configuration, problems) => checkAll(configuration, problems, strictnessFor([])),
  update: (next, old, problems) => checkAll(next, problems, strictnessFor(webhooksOf(old))),
};
