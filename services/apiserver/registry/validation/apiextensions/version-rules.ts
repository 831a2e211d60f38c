import type {
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
  WebhookClientConfig,
} from '../../../../machinery/types/generated/apiextensions.v1.js';
import { checkCertificates } from '../../../../client/kubeconfig/source.js';
import { dns1035Label } from '../../../../machinery/meta/metadata.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { type At, each, requireEnum } from '../checks/at.js';
import { checkUrlAndService, checkWebhookService } from '../checks/webhooks.js';
import { isSaid, type Schema } from './schemas.js';
import { followPath } from './selectable-path.js';

/** Rules for what a version says beside its schema. */
export function checkVersion(at: At, version: CustomResourceDefinitionVersion, vocabulary: Vocabulary): void {
  checkWarning(at, version);
  const { subresources, selectableFields = [], schema } = version;
  if (subresources?.scale !== undefined) checkScale(at.child('subresources'), subresources.scale);
  each(at, 'additionalPrinterColumns', version.additionalPrinterColumns, checkColumn);
  checkSelectable(at, selectableFields, (schema?.openAPIV3Schema ?? {}) as Schema);
  if (subresources?.status !== undefined && schema?.openAPIV3Schema !== undefined) {
    checkRoot(at.child('schema'), schema.openAPIV3Schema as Schema, vocabulary);
  }
}

const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

function checkWarning(at: At, { deprecated = false, deprecationWarning }: CustomResourceDefinitionVersion): void {
  if (deprecationWarning === undefined) return;
  const wrong = (why: string): void => at.invalid('deprecationWarning', deprecationWarning, why);
  if (!deprecated) {
    wrong('can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(deprecationWarning) > 256) wrong('must be <= 256 characters long');
  if (deprecationWarning === '') wrong('must not be an empty string');
  const found = NOT_PRINTABLE.exec(deprecationWarning);
  if (found === null) return;
  const index = Buffer.byteLength(deprecationWarning.slice(0, found.index));
  wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
}

function checkScale(at: At, scale: CustomResourceSubresourceScale): void {
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  if (specReplicasPath === '') at.required('scale.specReplicasPath');
  else checkPath(at, 'scale.specReplicasPath', specReplicasPath, ['.spec.'], '.spec');
  if (statusReplicasPath === '') at.required('scale.statusReplicasPath');
  else checkPath(at, 'scale.statusReplicasPath', statusReplicasPath, ['.status.'], '.status');
  if (labelSelectorPath !== '') {
    checkPath(at, 'scale.labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status');
  }
}

function checkPath(at: At, member: string, path: string, below: readonly string[], said: string): void {
  if (!path.startsWith('.')) at.invalid(member, path, 'must be a simple json path starting with .');
  else if (!below.some((start) => path.startsWith(start)))
    at.invalid(member, path, `should be a json path under ${said}`);
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function checkColumn(
  { name = '', type = '', format = '', jsonPath = '' }: CustomResourceColumnDefinition,
  at: At,
): void {
  if (name === '') at.required('name');
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (type === '') at.required('type', types);
  else if (!COLUMN_TYPES.includes(type)) at.invalid('type', type, types);
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    at.invalid('format', format, `must be one of ${COLUMN_FORMATS.join(',')}`);
  }
  if (jsonPath === '') at.required('JSONPath');
  else if (!jsonPath.startsWith('.')) at.invalid('JSONPath', jsonPath, 'must be a simple json path starting with .');
}

/** Most fields by which the objects of a version can be selected. */
const MOST_SELECTABLE = 8;
const SELECTABLE_TYPES: readonly unknown[] = ['string', 'boolean', 'integer'];

function checkSelectable(at: At, fields: readonly { readonly jsonPath?: string }[], schema: Schema): void {
  const seen = new Set<string>();
  fields.forEach(({ jsonPath = '' }, i) => {
    const fieldAt = at.child('selectableFields').index(i);
    if (jsonPath === '') {
      fieldAt.required('jsonPath');
      return;
    }
    const found = followPath(jsonPath, schema);
    if (typeof found === 'string') {
      fieldAt.invalid('jsonPath', jsonPath, `is an invalid path: ${found}`);
      return;
    }
    if (jsonPath === '.metadata' || jsonPath.startsWith('.metadata.'))
      fieldAt.invalid('jsonPath', jsonPath, 'must not point to fields in metadata');
    if (!SELECTABLE_TYPES.includes(found.type)) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      fieldAt.invalid('jsonPath', jsonPath, why);
    }
    if (seen.has(jsonPath)) fieldAt.duplicate('jsonPath', jsonPath);
    seen.add(jsonPath);
  });
  if (seen.size > MOST_SELECTABLE) at.tooMany('selectableFields', seen.size, MOST_SELECTABLE);
}

/** What a schema of whole objects may have where the status is written apart. */
const AT_ROOT = new Set([
  ...['description', 'type', 'format', 'title', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'required', 'items'],
  ...['properties', 'externalDocs', 'example'],
]);
const MARKERS_AT_ROOT = ['preserve-unknown-fields', 'validations'] as const;

function checkRoot(at: At, root: Schema, { openApiExtension }: Vocabulary): void {
  const rootAt = at.child('openAPIV3Schema');
  if (root.type !== 'object' && isSaid(root.type)) {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    rootAt.invalid('type', root.type, why);
  }
  const allowed = new Set([...AT_ROOT, ...MARKERS_AT_ROOT.map(openApiExtension)]);
  const others = Object.keys(root).filter((name) => !allowed.has(name) && isSaid(root[name]));
  if (others.length === 0) return;
  rootAt.invalid('', others, `only ${[...allowed].join(', ')} fields are allowed at the root of the schema if the status subresource is enabled`); // prettier-ignore
}

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** Rules for how objects get from one version to another. */
export function checkConversion(at: At, { strategy = '', webhook }: CustomResourceConversion): void {
  requireEnum(at, 'strategy', strategy, ['None', 'Webhook']);
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  const versions = conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    if (clientConfig !== undefined) {
      at.forbidden('webhookClientConfig', 'should not be set when strategy is not set to Webhook');
    }
    if (versions.length > 0) {
      at.forbidden('conversionReviewVersions', 'should not be set when strategy is not set to Webhook');
    }
    return;
  }
  if (clientConfig === undefined) at.required('webhookClientConfig', 'required when strategy is set to Webhook');
  else checkClientConfig(at.child('webhookClientConfig'), clientConfig);
  checkReviewVersions(at, versions);
}

/** Port that is meant where none is named. */
const HTTPS = 443;

function checkClientConfig(at: At, clientConfig: WebhookClientConfig): void {
  checkUrlAndService(at, clientConfig);
  const { url, service } = clientConfig;
  if (service === undefined || url !== undefined) return;
  const serviceAt = at.child('service');
  const { name = '', namespace = '', port = HTTPS } = service;
  if (name === '') serviceAt.required('name');
  if (namespace === '') serviceAt.required('namespace');
  if (port < 1 || port > 65_535) {
    serviceAt.invalid('port', port, 'port is not valid: must be between 1 and 65535, inclusive');
  }
  checkWebhookService(serviceAt, service);
}

/** Rules for the authorities that a webhook is trusted by: of a definition in use, which would not be any more. */
export function checkBundle(at: At, { webhook }: CustomResourceConversion): void {
  const pem = Buffer.from(webhook?.clientConfig?.caBundle ?? '', 'base64').toString('utf8');
  if (pem.trim() === '') return;
  try {
    checkCertificates(pem, 'caBundle');
  } catch {
    const why = 'unable to load root certificates: unable to parse bytes as PEM block';
    at.child('webhookClientConfig').invalid('caBundle', `${Buffer.byteLength(pem)} bytes`, why);
  }
}

function checkReviewVersions(at: At, versions: readonly string[]): void {
  if (versions.length === 0) {
    at.required('conversionReviewVersions');
    return;
  }
  versions.forEach((version, i) => {
    const versionAt = at.child('conversionReviewVersions').index(i);
    if (versions.indexOf(version) < i) versionAt.invalid('', version, 'duplicate version');
    else for (const problem of dns1035Label(version)) versionAt.invalid('', version, problem);
  });
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    at.invalid('conversionReviewVersions', versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
  }
}
