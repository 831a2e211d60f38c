import { conflict, notFound } from '../../machinery/meta/status.js';
import type { ResourceRequest } from '../request/request.js';
import { refuseOtherPlace } from '../registry/prepare.js';
import type { ServedResource } from '../registry/resources.js';
import { answerWritten } from './answers.js';
import type { SentObject } from './decode-body.js';
import { fieldManager, dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';
import { createInstead, write } from './write.js';

export const update =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const dryRun = dryRunParameter(ctx.state.query);
    const body = await deps.bodies.object(ctx, served); // a body that is wrong is refused before anything is read
    refuseOtherPlace(body, request);
    const by = fieldManager(deps, ctx, request, 'UpdateOptions');
    const mayCreate = served.declaration.createOnUpdate && request.subresource === '';
    const written = await write(deps, ctx, {
      request,
      served,
      by,
      dryRun,
      whole: true,
      wanted: async (present) => {
        if (present === undefined) {
          if (!mayCreate) throw notFound(served.stored.hub, request.name);
          refuseKnownState(request, served, body);
          await createInstead(deps, ctx, request);
        }
        return { object: body.take() };
      },
    });
    await answerWritten(ctx, served, written);
  };

/** A body with a resourceVersion is about the object that had it, which is gone. @throws {StatusError} Conflict */
function refuseKnownState({ name }: ResourceRequest, { declaration }: ServedResource, { metadata }: SentObject): void {
  const { uid = '', resourceVersion = '' } = metadata;
  if (uid !== '') {
    throw conflict(declaration, name, `Precondition failed: UID in precondition: ${uid}, UID in object meta: `);
  }
  if (resourceVersion !== '' && resourceVersion !== '0') {
    throw conflict(declaration, name, 'the object has been deleted; please create it anew');
  }
}
