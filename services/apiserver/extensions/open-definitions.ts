import type { AdmissionObjects } from '../admission/objects.js';
import { ANONYMOUS } from '../admission/webhooks/credentials.js';
import { Pools } from '../admission/webhooks/pools.js';
import type { Log } from '../../machinery/log/log.js';
import { follow } from '../cache/follow.js';
import type { ConversionMetrics } from '../metrics/conversion-metrics.js';
import { declaredResource, type ResourceTable } from '../registry/resources.js';
import { WebhookConverter } from './conversion/webhook-converter.js';
import type { DeclaringDeps } from './declare.js';
import { Definitions } from './definitions.js';
import { Registration, type RegistrationDeps } from './registration.js';

export interface DefinitionDeps extends Omit<RegistrationDeps, 'converterOf' | 'log'> {
  readonly resources: ResourceTable;
  /** Where services are looked up that lead to webhooks. */
  readonly objects: Pick<AdmissionObjects, 'cached'>;
  readonly metrics: ConversionMetrics;
  readonly log: Pick<Log, 'error' | 'warn'>;
}

/** Serves what definitions define, from now on. */
export function openDefinitions(d: DefinitionDeps): Definitions {
  const definitions = new Definitions(new Registration({ ...d, converterOf: convertersFor(d) }));
  const { groups } = d.vocabulary;
  follow(declaredResource(d.resources, groups.apiextensions, 'customresourcedefinitions').cache, definitions);
  return definitions;
}

/** Webhooks that convert are asked as nobody, as those of admission are unless a file says otherwise. */
function convertersFor({ vocabulary, objects, metrics, log }: DefinitionDeps): DeclaringDeps['converterOf'] {
  const pools = new Pools();
  const userAgent = `${vocabulary.serverName}-admission`; // what those who serve both are used to
  const asking = { vocabulary, objects, metrics, log, pools, users: ANONYMOUS, userAgent };
  return (definition, conversion) => new WebhookConverter(definition, conversion, asking);
}
