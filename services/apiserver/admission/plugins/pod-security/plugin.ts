import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { invalid, qualified } from '../../../../machinery/meta/status.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import type { PluginDocument } from '../../configuration.js';
import { presentNamespace } from '../../namespaces.js';
import { derived, type AdmissionObjects } from '../../objects.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.js';
import { refused } from '../../refusal.js';
import { existingViolations } from './existing-pods.js';
import { configured, isPrivileged, policyOf, type PodSecurityConfiguration, type ReadPolicy } from './policy.js';
import { isSignificant } from './significant.js';
import { isRelaxed, shownStandard, shownViolations, violations, type Standard } from './standards.js';
import { TEMPLATES, type TemplateReader } from './templates.js';
import type { AnnotationWords, CheckedPod } from './words.js';

export interface PodSecurityDeps {
  readonly vocabulary: Vocabulary;
  readonly objects: Pick<AdmissionObjects, 'present' | 'list'>;
  readonly configuration: ReadonlyMap<string, PluginDocument>;
}

/** What all requests share. */
interface Security {
  readonly prefix: string;
  readonly words: AnnotationWords;
  readonly configuration: PodSecurityConfiguration;
  readonly objects: PodSecurityDeps['objects'];
  readonly policyOf: (namespace: ApiObject) => ReadPolicy;
}

/**
 * The labels of a namespace say which of three standards its pods keep: enforced, told to the client, or told to the audit.
 * Workloads that make pods are warned about, and so is a namespace whose pods would not be made again.
 */
export function podSecurity(d: PodSecurityDeps): AdmissionPlugin {
  const { podSecurity: names, profiles: words } = d.vocabulary;
  const configuration = configured(d.configuration.get('PodSecurity'), names.configurationGroup);
  const s: Security = {
    prefix: names.prefix,
    words,
    configuration,
    objects: d.objects,
    policyOf: ({ metadata }) => policyOf(metadata.labels ?? {}, names.prefix, configuration.defaults),
  };
  const read = derived(s.policyOf);
  const policyFor = async (request: AdmissionRequest): Promise<ReadPolicy> =>
    read(await presentNamespace(d.objects, request));
  return {
    operations: ['CREATE', 'UPDATE'],
    resources: ['namespaces', 'pods', ...TEMPLATES.keys()],
    validate: async (request) => {
      const name = qualified(request.resource);
      if (name === 'namespaces') {
        if (request.subresource === '') checkNamespace(s, request);
      } else if (name === 'pods') {
        if (!POD_PARTS.has(request.subresource) || !isSignificant(request, s.words)) return;
        checkPod(s, request, await policyFor(request));
      } else {
        const template = templateOf(request, TEMPLATES.get(name));
        if (template !== undefined) checkTemplate(s, request, checked(template), await policyFor(request));
      }
    },
  };
}

const POD_PARTS: ReadonlySet<string> = new Set(['', 'ephemeralcontainers']);

function checkPod(s: Security, request: AdmissionRequest, { policy, errors }: ReadPolicy): void {
  const pod = checked(request.object);
  if (isExempt(s, request, pod)) return;
  request.annotate(`${s.prefix}enforce-policy`, shownStandard(policy.enforce));
  if (errors.length > 0) request.annotate(`${s.prefix}error`, failed(errors));
  if (isPrivileged(policy)) return;
  const problem = problemWith(s, policy.enforce, pod);
  tell(s, request, policy, pod, problem !== '');
  if (problem !== '') throw refused(request, `violates PodSecurity ${problem}`);
}

const templateOf = (
  { object, subresource }: AdmissionRequest,
  read: TemplateReader | undefined,
): ReturnType<TemplateReader> => (object === undefined || subresource !== '' ? undefined : read?.(object));

function checkTemplate(s: Security, request: AdmissionRequest, pod: CheckedPod, { policy, errors }: ReadPolicy): void {
  if (isPrivileged(policy) || isExempt(s, request, pod)) return;
  if (errors.length > 0) request.annotate(`${s.prefix}error`, failed(errors));
  tell(s, request, policy, pod, false);
}

/** Of a pod that is refused anyway the client is told once. */
function tell(
  s: Security,
  request: AdmissionRequest,
  policy: ReadPolicy['policy'],
  pod: CheckedPod,
  isRefused: boolean,
): void {
  const audited = problemWith(s, policy.audit, pod);
  if (audited !== '') request.annotate(`${s.prefix}audit-violations`, `would violate PodSecurity ${audited}`);
  const warned = isRefused ? '' : problemWith(s, policy.warn, pod);
  if (warned !== '') request.warn(`would violate PodSecurity ${warned}`);
}

/** e.g. `"baseline:latest": privileged (…)`; '' when there is none. */
function problemWith({ words }: Security, standard: Standard, pod: CheckedPod): string {
  const found = violations(standard, pod, words);
  return found.length === 0 ? '' : `"${shownStandard(standard)}": ${shownViolations(found)}`;
}

const failed = (errors: ReadPolicy['errors']): string =>
  `Failed to parse policy: ${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}`;

const checked = (pod: { readonly [member: string]: unknown } | undefined): CheckedPod => {
  const { metadata, spec } = (pod ?? {}) as { metadata?: ApiObject['metadata']; spec?: CheckedPod['spec'] };
  return { annotations: metadata?.annotations ?? {}, spec: spec ?? {} };
};

function isExempt({ configuration, prefix }: Security, request: AdmissionRequest, { spec }: CheckedPod): boolean {
  const { namespaces, usernames, runtimeClasses } = configuration.exemptions;
  const by = namespaces.has(request.namespace)
    ? 'namespace'
    : usernames.has(request.user.name)
      ? 'user'
      : runtimeClasses.has(spec.runtimeClassName ?? '')
        ? 'runtimeClass'
        : '';
  if (by !== '') request.annotate(`${prefix}exempt`, by);
  return by !== '';
}

/** @throws {StatusError} Invalid, for labels that say nothing that there is */
function checkNamespace(s: Security, request: AdmissionRequest): void {
  const { object, oldObject, name, operation } = request;
  if (object === undefined) return;
  const next = s.policyOf(object);
  const old = oldObject === undefined ? undefined : s.policyOf(oldObject);
  if (next.errors.length > 0 && !isDeepStrictEqual(next.errors, old?.errors)) {
    throw invalid({ group: '', kind: 'Namespace' }, name, next.errors);
  }
  if (operation !== 'UPDATE' || old === undefined) return;
  const [standard, before] = [next.policy.enforce, old.policy.enforce];
  if (standard.level === 'privileged' || isRelaxed(standard, before)) return;
  if (s.configuration.exemptions.namespaces.has(name)) return;
  for (const warning of existingViolations(s, name, standard, checked)) request.warn(warning);
}
