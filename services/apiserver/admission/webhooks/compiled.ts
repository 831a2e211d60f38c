import type { ApiObject } from '../../../machinery/meta/object.js';
import { A_BOOL, Composition } from '../../../machinery/cel/policies/composition.js';
import type { LabelSelector } from '../../../machinery/selectors/label-selector.js';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
  WebhookClientConfig,
} from '../../../machinery/types/generated/admissionregistration.v1.js';
import type { CachedObject } from '../../cache/cached-object.js';
import { compiled as compiledExpression } from '../policies/compiled.js';
import type { Condition } from '../policies/conditions.js';
import { selectorOf } from './selecting.js';

/** A webhook of a configuration, ready to be matched. Validating ones have the same members, but for one. */
export interface CompiledWebhook {
  /** Name of the configuration. */
  readonly configuration: string;
  readonly name: string;
  /** Its place among all webhooks of its kind: by the name of the configuration, then as written. */
  readonly position: number;
  readonly rules: readonly RuleWithOperations[];
  readonly clientConfig: WebhookClientConfig;
  readonly isExact: boolean;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly timeoutSeconds: number;
  readonly failsOpen: boolean;
  /** Whether it may be asked about a dry run. */
  readonly hasNoSideEffects: boolean;
  /** Whether it wants to see an object again that others have changed since. */
  readonly isReinvoked: boolean;
  readonly reviewVersions: readonly string[];
  /** What a request has to meet. */
  readonly conditions: readonly Condition[];
  /** Another one when what is asked, or how, changes: what is remembered of a webhook is kept by it. */
  readonly id: string;
}

const DEFAULT_TIMEOUT_SECONDS = 10;
const DRY_RUN_CLASSES = new Set<string | null | undefined>(['None', 'NoneOnDryRun']);

/** @param objects Configurations in the order of their names. */
export function compileWebhooks(objects: readonly CachedObject[]): readonly CompiledWebhook[] {
  const compiled: CompiledWebhook[] = [];
  for (const object of objects) {
    const { metadata, webhooks = [] } = object.parse() as ApiObject & MutatingWebhookConfiguration; // checked on write
    for (const webhook of webhooks) compiled.push(compile(webhook, metadata, compiled.length));
  }
  return compiled;
}

function compile(
  webhook: MutatingWebhook,
  { name: configuration = '' }: ApiObject['metadata'],
  position: number,
): CompiledWebhook {
  const { name = '', clientConfig = {}, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = webhook;
  return {
    configuration,
    name,
    position,
    rules: webhook.rules ?? [],
    clientConfig,
    isExact: webhook.matchPolicy === 'Exact',
    namespaceSelector: selectorOf(webhook.namespaceSelector),
    objectSelector: selectorOf(webhook.objectSelector),
    timeoutSeconds,
    failsOpen: webhook.failurePolicy === 'Ignore',
    hasNoSideEffects: DRY_RUN_CLASSES.has(webhook.sideEffects),
    isReinvoked: webhook.reinvocationPolicy === 'IfNeeded',
    reviewVersions: webhook.admissionReviewVersions ?? [],
    conditions: conditionsOf(webhook),
    id: JSON.stringify([configuration, name, timeoutSeconds, clientConfig]),
  };
}

function conditionsOf({ matchConditions = [] }: MutatingWebhook): readonly Condition[] {
  const composition = new Composition({ hasParams: false, hasAuthorizer: true }, false);
  return matchConditions.map(({ name = '', expression = '' }) => ({
    name,
    compiled: compiledExpression(expression, () => composition.expression(expression, A_BOOL)),
  }));
}
