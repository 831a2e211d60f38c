import { isDeepStrictEqual } from 'node:util';
import { dns1035Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../../../machinery/types/generated/admissionregistration.v1.js';
import { At, shownList, checkRule, each } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';
import { checkConditions } from './expressions.js';

type Webhook = MutatingWebhook | ValidatingWebhook;
type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

const webhooksOf = ({ webhooks }: Configuration): readonly Webhook[] => webhooks ?? [];

/** Rules for new webhooks, and for stored ones that keep them already. */
interface Strictness {
  readonly noSideEffects: boolean;
  readonly knownVersions: boolean;
  readonly uniqueNames: boolean;
  /** Whether match conditions are asked: those that have not changed are kept. */
  readonly conditions: boolean;
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const VERSIONS = ['v1', 'v1beta1'];

const hasKnownVersion = ({ admissionReviewVersions: versions }: Webhook): boolean =>
  (versions ?? []).some((version) => VERSIONS.includes(version));

const conditionsOf = ({ matchConditions }: Webhook): unknown => matchConditions ?? [];

function strictnessFor(next: readonly Webhook[], old: readonly Webhook[]): Strictness {
  return {
    noSideEffects: old.every(({ sideEffects }) => NO_SIDE_EFFECTS.includes(sideEffects ?? '')),
    knownVersions: old.every(
      (webhook) => hasKnownVersion(webhook) || (webhook.admissionReviewVersions ?? []).length === 0,
    ),
    uniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
    conditions: !isDeepStrictEqual(next.map(conditionsOf), old.map(conditionsOf)),
  };
}

/** At least three names in a row: whose the webhook is, and which. */
function checkName(at: At, name: string): void {
  if (name === '') return;
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
    else checkRule(versionAt, '', version, dns1035Label);
    seen.add(version);
  });
  if (mustBeKnown && !hasKnownVersion(webhook)) {
    const why = `must include at least one of ${VERSIONS.join(', ')}`;
    at.invalidShown('admissionReviewVersions', shownList(versions), why);
  }
}

function checkAll(configuration: Configuration, problems: Problems, strict: Strictness): void {
  const names = new Set<string>();
  each(At.root(problems), 'webhooks', webhooksOf(configuration), (webhook, at) => {
    const { name = '', sideEffects } = webhook;
    checkName(at, name);
    checkSideEffects(at, sideEffects, strict.noSideEffects ? NO_SIDE_EFFECTS : SIDE_EFFECTS);
    checkVersions(at, webhook, strict.knownVersions);
    if (strict.conditions) checkConditions(at, 'matchConditions', webhook.matchConditions);
    if (name === '') return;
    if (strict.uniqueNames && names.has(name)) at.duplicate('name', name);
    names.add(name);
  });
}

/** Both kinds: that one of them may be asked again is a matter of its type. */
export const webhookConfigurations: KindValidation<Configuration> = {
  create: (configuration, problems) => checkAll(configuration, problems, strictnessFor(webhooksOf(configuration), [])),
  update: (next, old, problems) => checkAll(next, problems, strictnessFor(webhooksOf(next), webhooksOf(old))),
};
