import type { ApiObject } from '../../machinery/meta/object.js';
import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { UserInfo } from '../request/request.js';
import type { AdmissionChain } from './chain.js';
import type { AdmissionOperation, AdmissionRequest } from './plugin.js';

/** Which object of which resource a request is about. */
export interface AdmissionTarget {
  readonly declaration: ResourceDeclaration | undefined;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Its operation, and the states before and after it. */
export interface Admitted {
  readonly operation: AdmissionOperation;
  readonly object?: ApiObject;
  readonly oldObject?: ApiObject | undefined;
  readonly dryRun: boolean;
}

/** @throws {Error} for a resource that is not served: no request gets as far with one */
export function admissionRequest(
  user: UserInfo,
  { declaration, subresource, namespace, name }: AdmissionTarget,
  { operation, object, oldObject, dryRun }: Admitted,
): AdmissionRequest {
  if (declaration === undefined) throw new Error('Admission was asked about a resource that is not served');
  return { operation, resource: declaration, subresource, namespace, name, object, oldObject, user, dryRun };
}

/** Both phases, for an object that is not stored. Plugins may change it in place. @throws {StatusError} */
export async function admit(admission: AdmissionChain, request: AdmissionRequest): Promise<void> {
  await admission.mutate(request);
  await admission.validate(request);
}
