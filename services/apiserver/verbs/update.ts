import { conflict, hasReason } from '../../machinery/meta/status.js';
import type { ApiObject } from '../../machinery/meta/object.js';
import type { ResourceRequest } from '../pipeline/request.js';
import { matchPlace } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { changeObject, type Wanted } from './change.js';
import { createObject } from './create.js';
import { fieldManager } from './field-manager.js';
import { FieldValidation } from './field-validation.js';
import { dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';

/** How often a PUT that creates tries both, when others delete and create the object at the same time. */
const MAX_ATTEMPTS = 4;

export const update =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const dryRun = dryRunParameter(ctx.state.query);
    const fields = new FieldValidation(ctx);
    const body = await deps.bodies.required(ctx, served, fields);
    const wanted = served.decode(body, fields.onUnknown); // a body that is wrong is refused before anything is read
    matchPlace(wanted, request);
    const by = fieldManager(deps, ctx, request, 'UpdateOptions');
    const next = (): Wanted => ({ object: served.decode(body) });
    const mayCreate = served.declaration.createOnUpdate && request.subresource === '';
    for (let attempt = 1; ; attempt++) {
      try {
        await changeObject(deps, ctx, request, served, { by, dryRun, next });
        return;
      } catch (err) {
        if (!mayCreate || !hasReason(err, 'NotFound')) throw err;
      }
      refuseKnownState(request, served, wanted);
      await deps.authorize(ctx.state.user, { ...request, verb: 'create' });
      try {
        await createObject(deps, ctx, request, served, { body: served.decode(body), by, dryRun });
        return;
      } catch (err) {
        if (attempt === MAX_ATTEMPTS || !hasReason(err, 'AlreadyExists')) throw err;
      }
    }
  };

/** Who names a state means the object that had it: that one is gone. @throws {StatusError} Conflict */
function refuseKnownState({ name }: ResourceRequest, { declaration }: ServedResource, { metadata }: ApiObject): void {
  const { uid = '', resourceVersion = '' } = metadata;
  if (uid !== '') {
    throw conflict(declaration, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
  }
  if (resourceVersion !== '' && resourceVersion !== '0') {
    throw conflict(declaration, name, 'the object has been deleted; please create it anew');
  }
}
