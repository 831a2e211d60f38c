import type { ApiObject } from '../../machinery/meta/object.js';
import type { Context, ResourceRequest } from '../pipeline/request.js';
import { dryRunParameter } from '../verbs/parameters.js';
import type { OperationDeps } from './types.js';

/** Shows admission an object that is created and never stored. Plugins may change it. @throws {StatusError} */
export async function admitCreate(
  { admission }: Pick<OperationDeps, 'admission'>,
  ctx: Context,
  { declaration, subresource, namespace, name }: ResourceRequest,
  object: ApiObject,
): Promise<void> {
  if (declaration === undefined) return;
  const { user, query } = ctx.state;
  const dryRun = dryRunParameter(query);
  const review = { operation: 'CREATE', resource: declaration, subresource, namespace, name, object, oldObject: undefined, user, dryRun } as const; // prettier-ignore
  await admission.mutate(review);
  await admission.validate(review);
}
