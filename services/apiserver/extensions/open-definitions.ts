import { follow } from '../cache/follow.js';
import { declaredResource, type ResourceTable } from '../registry/resources.js';
import { Definitions } from './definitions.js';
import { Registration, type RegistrationDeps } from './registration.js';

/** Serves what definitions define, from now on. */
export function openDefinitions({
  resources,
  ...d
}: RegistrationDeps & { readonly resources: ResourceTable }): Definitions {
  const definitions = new Definitions(new Registration(d));
  const { groups } = d.vocabulary;
  follow(declaredResource(resources, groups.apiextensions, 'customresourcedefinitions').cache, definitions);
  return definitions;
}
